#!/usr/bin/env node
import module from "node:module";

// Node 22.1 and later can keep what V8 compiled; every later start is then faster.
module.enableCompileCache?.();
const { main } = await import("../dist/cli.js");
process.exitCode = await main(process.argv.slice(2));
