/**
 * Kills the process, as an out-of-memory killer would, right before its n-th change to the file system:
 *
 *     KILL_AT=7 node --import ./kill-at.mjs program.js
 *
 * It counts every call that changes something, whoever makes it, so the program needs no hook for it.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const changes = [
  "mkdir",
  "writeFile",
  "rename",
  "rm",
  "rmdir",
  "unlink",
  "copyFile",
  "symlink",
  "link",
  "appendFile",
];
const killAt = Number(process.env.KILL_AT);
let count = 0;

function counted(change) {
  return function (...args) {
    count += 1;
    if (count === killAt) process.kill(process.pid, "SIGKILL");
    return change.apply(this, args);
  };
}

for (const name of changes) {
  for (const [owner, method] of [
    [fs, name],
    [fs, `${name}Sync`],
    [fs.promises, name],
  ]) {
    if (typeof owner[method] === "function") owner[method] = counted(owner[method]);
  }
}
syncBuiltinESMExports();
