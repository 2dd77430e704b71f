// Loaded into the program before its own code (node --import): counts the bytes that it writes to the files of a state.
import { writeFileSync } from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

let [bytes, writes] = [0, 0];
const open = files.open;
files.open = async (...args) => {
  const handle = await open(...args);
  if (!String(args[0]).includes(".state.json")) return handle;
  const write = handle.writeFile.bind(handle);
  handle.writeFile = async (text, ...rest) => {
    bytes += Buffer.byteLength(text);
    writes += 1;
    return write(text, ...rest);
  };
  return handle;
};
syncBuiltinESMExports();
process.on("exit", () =>
  writeFileSync(process.env.BENCH_WRITES, JSON.stringify({ bytes, requests: writes })),
);
