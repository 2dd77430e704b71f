// Makes a clone ready and then runs a command with the packaged Node:
//
//   node scripts/bootstrap.mjs [--engine] [COMMAND ARGUMENT...]
//
// It runs on the machine's own Node (18 or newer) and before anything is installed, so it has no dependencies and no
// types. `--engine` also sets up the database engine of the local platform.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { thisMachine, unpinned } from "./unpinned.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "node_modules", ".bin");
const [first, ...rest] = process.argv.slice(2);
const withEngine = first === "--engine";
const command = withEngine ? rest : process.argv.slice(2);

/** The PATH without, or with, the packages' own programs: npm must not run on the Node that it is replacing. */
const others = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== bin);
const machine = { ...process.env, PATH: others.join(delimiter) };
const packaged = { ...process.env, PATH: [bin, ...others].join(delimiter) };

if (!installed()) {
  refuseUnpinned();
  console.error("graphform: installing what the lock file names ...");
  // A package's own script could fetch what the lock file knows nothing of; none is needed.
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund"];
  run("npm", ["ci", ...quiet], machine);
  // An older Node skips binaries that ask for a newer one; the packaged one, which is there now, adds them.
  if (Number.parseInt(process.versions.node, 10) < 22)
    run("npm", ["install", "--no-save", ...quiet], packaged);
}
if (withEngine) run("node", ["scripts/setup-engine.ts"], packaged);
run("node", ["scripts/emit-all.ts", "--generated"], packaged);
run("node", ["scripts/build.ts"], packaged);
if (command.length > 0) run(command[0], command.slice(1), packaged);

/** Ends where something would be installed that is compared with no hash. */
function refuseUnpinned() {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const names = unpinned(lock.packages, thisMachine());
  if (names.length === 0) return;
  console.error(
    `graphform: package-lock.json has no hash for what would be installed here: ${names.join(", ")}`,
  );
  console.error("where the registry has them, `node scripts/complete-lock.ts` adds the hashes (Node 24)");
  process.exit(1);
}

/** True where the last install is not older than the lock file. */
function installed() {
  const mark = join(root, "node_modules", ".package-lock.json");
  return existsSync(mark) && statSync(mark).mtimeMs >= statSync(join(root, "package-lock.json")).mtimeMs;
}

/** Runs one program to its end and ends with its exit code when it fails. */
function run(program, args, env) {
  const shell = process.platform === "win32";
  const { status, signal, error } = spawnSync(program, args, { cwd: root, env, stdio: "inherit", shell });
  if (error !== undefined) {
    console.error(`graphform: cannot run ${program}: ${error.message}`);
    process.exit(1);
  }
  if (signal !== null) process.kill(process.pid, signal);
  if (status !== 0) process.exit(status ?? 1);
}
