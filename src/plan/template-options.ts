/**
 * How templates are compiled. Without `noEscape`, Handlebars turns `O'Neil & Co` into HTML entities; without `strict`,
 * it prints nothing for a misspelt key.
 */
export const templateOptions: PrecompileOptions = {
  noEscape: true,
  strict: true,
  // A misspelt helper stops the build, and the compiled code need not look for one.
  knownHelpersOnly: true,
  knownHelpers: { json: true, md: true, eq: true },
};
