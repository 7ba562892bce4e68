/**
 * How templates are compiled. Without `noEscape`, Handlebars turns `O'Neil & Co` into HTML entities; without `strict`,
 * it prints nothing for a misspelt key.
 */
export const templateOptions: PrecompileOptions = {
  noEscape: true,
  strict: true,
  knownHelpers: { js: true, json: true, md: true, yaml: true, eq: true },
};
