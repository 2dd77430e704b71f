// Loaded into graphform with --import: ends the process by SIGKILL as soon as the file of a state says that a migration entered the phase
// KILL_AT_PHASE, or, for `switched`, that the address was switched, or, for `stopping`, that the service has taken the stop of the old one.
// With HELD_BY it does not end: it makes the file HELD_BY, and stands still, once, until the file is removed.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";

const phase = process.env["KILL_AT_PHASE"] ?? "";
const events = { switched: /"type":"switched"/, stopping: /"type":"operation-accepted".*"operation":"stop"/ };
const event = events[phase] ?? new RegExp(`"type":"migration".*"phase":"${phase}"`);
// The first write of a run may be the whole document.
const whole = new RegExp(`"phase": ?"${phase}"`);
const { open, rename } = fs.promises;
const held = process.env["HELD_BY"];
let says = false;
let hasStood = false;

function reach() {
  if (held === undefined) process.kill(process.pid, "SIGKILL");
  says = false;
  hasStood = true;
  fs.writeFileSync(held, "");
  while (fs.existsSync(held)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}

fs.promises.open = async (...given) => {
  const handle = await open(...given);
  const [write, sync] = [handle.writeFile.bind(handle), handle.datasync.bind(handle)];
  handle.writeFile = (data, ...rest) => {
    const [text, isWhole] = [String(data).trim(), /state\.json\.\w+\.tmp$/.test(String(given[0]))];
    says ||= !hasStood && (isWhole ? whole.test(text) : event.test(text.split("\n").at(-1) ?? ""));
    return write(data, ...rest);
  };
  handle.datasync = async () => {
    await sync();
    if (says && String(given[0]).endsWith(".log")) reach();
  };
  return handle;
};
fs.promises.rename = async (from, to) => {
  await rename(from, to);
  if (says && String(to).endsWith("state.json")) reach();
};
syncBuiltinESMExports();
