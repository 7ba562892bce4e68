/** Made by `build/templates-plugin.ts` from the folder `templates`: plain files as text, `.hbs` files compiled. */
declare module "virtual:templates" {
  export const templates: Readonly<Record<string, string | ((context: object) => string)>>;
}
