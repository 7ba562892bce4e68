import { execa } from "execa";

/** Runs the command after it as a user of no name, with no group and no capability. */
export const asNobody = [
  "setpriv",
  "--reuid=12345",
  "--regid=12345",
  "--clear-groups",
  "--inh-caps=-all",
  "--bounding-set=-all",
] as const;

/** The same as the first process of a namespace of its own, with a root that cannot be written to. */
export const asInAContainer = [
  "unshare",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "sh",
  "-c",
  'mount -o remount,bind,ro / && exec "$@"',
  "sh",
  ...asNobody,
] as const;

/** Whether this machine lets us run something through such a command. */
export async function canRunThrough([command, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  const { exitCode } = await execa(command, [...args, process.execPath, "-e", ""], { reject: false });
  return exitCode === 0;
}
