// Loaded into the program before its own code (node --import): ends the process at the n-th change of the state's files,
// also in the middle of an addition to its log.
import { appendFileSync } from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

const { CUT_AT, CUT_WHEN, CUT_LOG } = process.env;
let count = 0;

/** Files are made with flags; opening one to read it has none, or "r". */
const isOurs = {
  rename: (from) => String(from).includes(".state.json"),
  link: (from) => String(from).includes(".state.json"),
  open: (path, flags = "r") => String(path).includes(".state.json") && flags !== "r",
};

const die = () => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
};

const dying = (name, matches) => {
  const real = files[name];
  return async (...args) => {
    if (!matches(...args)) return real(...args);
    count += 1;
    if (CUT_LOG !== undefined) appendFileSync(CUT_LOG, `${name}\n`);
    const isHere = String(count) === CUT_AT;
    if (isHere && CUT_WHEN === "before") await die();
    const result = await real(...args);
    if (isHere && CUT_WHEN === "after") await die();
    return result;
  };
};

for (const [name, matches] of Object.entries(isOurs)) files[name] = dying(name, matches);

/** An addition to the log: before it only a part of it is written, after it all of it. */
const open = files.open;
files.open = async (...args) => {
  const handle = await open(...args);
  if (!String(args[0]).endsWith(".state.json.log")) return handle;
  const write = handle.writeFile.bind(handle);
  handle.writeFile = async (text, ...rest) => {
    count += 1;
    if (CUT_LOG !== undefined) appendFileSync(CUT_LOG, "append\n");
    const isHere = String(count) === CUT_AT;
    if (isHere && CUT_WHEN === "before") {
      await write(text.slice(0, Math.floor((text.length * (count % 5)) / 5)), ...rest);
      await die();
    }
    await write(text, ...rest);
    if (isHere) await die();
  };
  return handle;
};
syncBuiltinESMExports();
