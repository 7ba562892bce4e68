import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { workspace } from "../support/workspace.ts";

type Environment = Record<string, string>;

/** The environment in which `nginx` is found, or nothing where it cannot be had. */
async function findNginx(): Promise<Environment | undefined> {
  const here = { PATH: process.env.PATH ?? "" };
  if (await runs(here)) return here;
  const root = path.join(workspace, "nginx");
  if (!existsSync(root)) await unpackDebianNginx(root);
  const there = {
    PATH: [path.join(root, "usr", "sbin"), here.PATH].join(path.delimiter),
    LD_LIBRARY_PATH: libraryFolders(root).join(path.delimiter),
  };
  return (await runs(there)) ? there : undefined;
}

async function runs(env: Environment): Promise<boolean> {
  const { exitCode } = await execa("nginx", ["-v"], { reject: false, env });
  return exitCode === 0;
}

/** Where Debian has its libraries: the folders are named after the machine. */
function libraryFolders(root: string): string[] {
  return ["lib", path.join("usr", "lib")]
    .map((folder) => path.join(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)))
    .filter((folder) => folder.endsWith("-linux-gnu"));
}

/**
 * Takes nginx from Debian's package, with the libraries that the machine lacks. Nothing is installed: neither rights
 * nor the locks of the package manager are needed, and no service is started.
 */
async function unpackDebianNginx(root: string): Promise<void> {
  const staging = `${root}.${process.pid}`;
  const folders = {
    "Dir::State::lists": path.join(staging, "lists"),
    "Dir::Cache": path.join(staging, "cache"),
  };
  const options = Object.entries({ ...folders, "Debug::NoLocking": "true", "APT::Sandbox::User": "" });
  const flags = ["-qq", ...options.flatMap(([name, value]) => ["-o", `${name}=${value}`])];
  const archives = path.join(folders["Dir::Cache"], "archives");
  await fs.ensureDir(path.join(folders["Dir::State::lists"], "partial"));
  await fs.ensureDir(path.join(archives, "partial"));
  try {
    await execa("apt-get", [...flags, "update"]);
    const wanted = ["install", "--download-only", "--yes", "--no-install-recommends", "nginx"];
    await execa("apt-get", [...flags, ...wanted]);
    for (const file of await fs.readdir(archives)) {
      if (!file.endsWith(".deb")) continue;
      await execa("dpkg-deb", ["--extract", path.join(archives, file), path.join(staging, "root")]);
    }
    // Another test file may have done the same meanwhile; then theirs stays.
    await fs.rename(path.join(staging, "root"), root).catch(() => {});
  } catch {
    // No Debian, or no way to its packages.
  } finally {
    await fs.remove(staging);
  }
}

const found = await findNginx();

/** What nginx is started with. */
export const nginxEnvironment = found ?? {};

/** Why nginx cannot be run on this machine, if it cannot. */
export const noNginx = found ? undefined : "nginx is not installed, and Debian's package is not to be had";
