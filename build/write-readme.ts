import { writeFileSync } from "node:fs";
import { currentReadme, readmePath } from "./readme.ts";

writeFileSync(readmePath, currentReadme());
