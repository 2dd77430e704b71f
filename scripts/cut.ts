import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Phase } from "../test/cuts/manifests.ts";
import { type Cut, extentOf, tryCut } from "../test/cuts/trial.ts";

const usage = `npm run cut -- [--every N] [--jobs J]

Kills an apply of twenty resources at every request (before it is sent, after it has worked, with the answer in hand) and
at every write of the state, creating them and changing them; then applies once more and looks for what is doubled, left
behind, forgotten or still to do. Takes about twenty minutes on two cores; --every 10 tries one place in ten.`;

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    every: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});
const [every, jobs] = [Number(values.every), Number(values.jobs)];
if (values.help || !(every >= 1) || !(jobs >= 1)) {
  console.log(usage);
  process.exitCode = values.help ? 0 : 2;
} else {
  execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { stdio: "inherit" });
  for (const phase of ["create", "update"] as const) await cutEverywhere(phase);
}

/** Tries every place, and prints how many of each sort were made good. */
async function cutEverywhere(phase: Phase): Promise<void> {
  const { requests, writes } = await extentOf(phase, root);
  const open: Cut[] = [
    ...placesIn(requests).flatMap((n): Cut[] =>
      (["before", "after", "answered"] as const).map((moment) => ({ at: "request", n, moment })),
    ),
    ...placesIn(writes).flatMap((n): Cut[] =>
      (["before", "after"] as const).map((moment) => ({ at: "write", n, moment })),
    ),
  ];
  console.log(`${phase}: ${requests} requests, ${writes} writes, ${open.length} places`);
  const tally = new Map<string, number>();
  const work = async (): Promise<void> => {
    for (let cut = open.shift(); cut !== undefined; cut = open.shift()) {
      const { isKilled, wrong } = await tryCut(phase, cut, root);
      const end = wrong.length > 0 ? "WRONG" : isKilled ? "made good" : "not reached";
      const row = `${cut.at}, ${cut.moment}: ${end}`;
      tally.set(row, (tally.get(row) ?? 0) + 1);
      if (wrong.length === 0) continue;
      process.exitCode = 1;
      console.log(`${phase}, ${cut.at} ${cut.n}, ${cut.moment}:\n  ${wrong.join("\n  ")}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  for (const [row, count] of [...tally].sort()) console.log(`  ${row.padEnd(36)} ${count}`);
}

function placesIn(count: number): readonly number[] {
  return Array.from({ length: Math.ceil(count / every) }, (_, at) => 1 + at * every);
}
