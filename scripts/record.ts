import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { animationOf } from "./recording/animation.ts";
import { openScreen } from "./recording/screen.ts";
import { openShell } from "./recording/shell.ts";
import { shortened } from "./recording/shortened.ts";

/**
 * Records docs/recording.svg from a real run: a region is edited and refused, with the way out; an apply is killed in
 * the middle of a create, run again, and makes nothing twice. Needs a terminal program, `script` of util-linux.
 */
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "shop-"));
const size = { columns: 88, rows: 24 };
const screen = openScreen(size.columns, size.rows, () => performance.now());

const programs = join(folder, "bin");
mkdirSync(programs);
symlinkSync(join(root, "bin", "graphform.js"), join(programs, "graphform"));
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(GRAPHFORM_|CI$|NO_COLOR)/.test(name)),
  ),
  SHOP_PASSWORD: randomBytes(12).toString("base64url"),
  PATH: [programs, process.env["PATH"] ?? ""].join(delimiter),
};
const shell = openShell(screen, size, folder, env);
const quiet = openShell(
  openScreen(200, 50, () => 0),
  { columns: 200, rows: 50 },
  folder,
  env,
);
const manifest = join(folder, "graphform.yaml");

try {
  cpSync(join(root, "examples", "quick-start.yaml"), manifest);
  // The answer of the third create never comes, although its work is done.
  const rule = '[{"operation":"create","after":2,"count":1,"fault":{"hang":600000,"work":true}}]';
  writeFileSync(join(folder, "faults.json"), rule);
  await quiet.run("graphform platform up --detach --faults faults.json");
  await quiet.run("graphform apply --auto-approve --exclude instances.scratch");

  await shell.run("sed -i s/us-east-1/eu-west-1/ graphform.yaml");
  await shell.run("graphform plan --target instances.orders");
  await pause(3000);
  await quiet.run("sed -i s/eu-west-1/us-east-1/ graphform.yaml");

  await shell.clear();
  await shell.type("# a new database: its create is sent, and the machine dies before the answer");
  await shell.runUntil("graphform apply --auto-approve", /scratch[\s\S]*creating/);
  await screen.write("\r\n\u001b[31mKilled\u001b[0m (kill -9)\r\n");
  await pause(1500);
  await shell.clear();
  await shell.type("# once more: what was sent is found, and not created again");
  await shell.run("graphform apply --auto-approve");
  await pause(3000);
  const title = "a region edited, refused, with the way out; kill -9, run again, no duplicate";
  writeFileSync(
    join(root, "docs", "recording.svg"),
    animationOf(shortened(screen.frames, 12_000), size, title),
  );
  console.log(`docs/recording.svg: ${readFileSync(join(root, "docs", "recording.svg")).length} bytes`);
} finally {
  await quiet.run("graphform platform down");
  rmSync(folder, { recursive: true, force: true });
}
