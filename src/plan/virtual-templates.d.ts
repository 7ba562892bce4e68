/** Made by `build/templates-plugin.ts` from the folder `templates`: plain files as text, `.hbs` files compiled. */
declare module "virtual:templates" {
  export const templates: Readonly<Record<string, string | TemplateSpecification>>;
}

/** Handlebars' own types describe this module only without its ending, which Node needs. */
declare module "handlebars/runtime.js" {
  import Handlebars from "handlebars";
  export default Handlebars;
}
