/** Helpers that insert what a person typed into the language it lands in, and so that it arrives unchanged. */

/**
 * A JSON string, which is a JavaScript and a YAML double-quoted string as well: U+2028, U+2029 and U+FEFF, which those
 * treat as line breaks or drop, are escaped.
 */
export function json(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Markdown in which the text stands for itself (CommonMark, section 2.4 "Backslash escapes"). */
export function md(text: string): string {
  return (
    text
      .replace(/[\\`*_{}[\]<>&#~|$@:]/g, "\\$&")
      // GitHub makes a link of what begins so, and takes what is escaped after it at its word.
      .replace(/www(?=\.)/gi, "$&\\")
      .replace(
        /^( *)([-+=]|\d+[.)])/,
        (_, spaces: string, marker: string) => `${spaces}${escapeLast(marker)}`,
      )
      .replace(/^[ \u00a0]+|[ \u00a0]+$/g, (spaces) =>
        [...spaces].map((c) => `&#${c.charCodeAt(0)};`).join(""),
      )
  );
}

function escapeLast(marker: string): string {
  return `${marker.slice(0, -1)}\\${marker.slice(-1)}`;
}
