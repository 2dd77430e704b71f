// Loaded into graphform with --import: ends the process by SIGKILL just before its write number KILL_AT of a whole state, of its
// copy or of its tombstone, whatever store it goes to.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import process from "node:process";

const killAt = Number(process.env["KILL_AT"]);
let writes = 0;

function beforeWrite() {
  writes += 1;
  if (writes === killAt) process.kill(process.pid, "SIGKILL");
}

const { rename } = fs.promises;
fs.promises.rename = async (from, to) => {
  if (/state\.json(\.backup)?$/.test(String(to))) beforeWrite();
  return rename(from, to);
};
syncBuiltinESMExports();

const { write } = net.Socket.prototype;
const isDocument = (data) =>
  (typeof data === "string" || data instanceof Uint8Array) &&
  /"lineage": ?"/.test(Buffer.from(data).toString("utf8"));
net.Socket.prototype.write = function (data, ...rest) {
  if (isDocument(data)) beforeWrite();
  return write.call(this, data, ...rest);
};
