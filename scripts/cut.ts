import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import type { Subject } from "../test/cuts/bench.ts";
import { phases } from "../test/cuts/manifests.ts";
import { placesIn, placeText, readPlace, rowFrom } from "../test/cuts/places.ts";
import { profileNames } from "../test/cuts/services.ts";
import { type Cut, extentOf, tryCuts } from "../test/cuts/trial.ts";

const usage = `npm run cut -- [--profile P] [--phase P] [--every N] [--in-a-row N] [--seed S] [--place PLACES] [--jobs J]

Kills an apply of twenty resources at every request (before it is sent, after it has worked, with the answer in hand) and
at every write of the state, creating them and changing them; then applies once more and looks for what is doubled, left
behind, forgotten, taken for another, or still to do.

  --profile P     ${profileNames.join(", ")}; all of them where none is named; may be given again
  --phase P       create or update; both where none is named
  --every N       one place in N
  --in-a-row N    what runs after a kill is killed, too, at a place that the seed decides: N kills in all
  --seed S        1 where it is left out
  --place PLACES  these places and no others, for example request-12-after or, one after the other,
                  request-12-after,write-3-before
  --jobs J        how many at once: 2

Every place of one profile and phase takes about ten minutes on two cores.`;

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    profile: { type: "string", multiple: true, default: [...profileNames] },
    phase: { type: "string", multiple: true, default: [...phases] },
    every: { type: "string", default: "1" },
    "in-a-row": { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    place: { type: "string" },
    jobs: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});
const [every, inARow, seed, jobs] = [values.every, values["in-a-row"], values.seed, values.jobs].map(Number);
const named = values.place?.split(",").map(readPlace);
const places = named?.filter((place) => place !== undefined);
const profiles = profileNames.filter((name) => values.profile.includes(name));
const parts = phases.filter((name) => values.phase.includes(name));

if (
  values.help ||
  profiles.length < new Set(values.profile).size ||
  parts.length < new Set(values.phase).size ||
  places?.length !== named?.length ||
  ![every, inARow, seed, jobs].every((figure) => Number.isInteger(figure) && Number(figure) >= 1)
) {
  console.log(usage);
  process.exitCode = values.help ? 0 : 2;
} else {
  execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { stdio: "inherit" });
  for (const profile of profiles) {
    for (const phase of parts) await cutEverywhere({ profile, phase, packaged: root });
  }
}

/** Tries every place, and prints how many of each sort were made good. */
async function cutEverywhere(subject: Omit<Subject, "echo">): Promise<void> {
  const title = `${subject.profile}, ${subject.phase}`;
  const began = Date.now();
  const extent = await extentOf(subject);
  const rows =
    places === undefined
      ? placesIn(extent, every ?? 1).map((place) => rowFrom(place, (inARow ?? 1) - 1, extent, seed ?? 1))
      : [places];
  console.log(`${title}: ${extent.requests} requests, ${extent.writes} writes, ${rows.length} places`);
  const open = rows.values();
  const tally = new Map<string, number>();
  let [done, bad] = [0, 0];
  const work = async (): Promise<void> => {
    for (const row of open) {
      const { kills, wrong } = await tryCuts(row, subject);
      done += 1;
      if (wrong.length > 0) bad += 1;
      count(tally, row, kills, wrong.length > 0);
      if (wrong.length > 0) {
        process.exitCode = 1;
        const again = `--profile ${subject.profile} --phase ${subject.phase} --place ${row.map(placeText).join(",")}`;
        print(`${again} (killed ${kills} times):\n  ${wrong.join("\n  ")}`);
      }
      progress(`${title}: place ${done} of ${rows.length}, ${bad} wrong`, done);
    }
  };
  await Promise.all(Array.from({ length: jobs ?? 1 }, work));
  print(`${title}: ${done} places in ${Math.round((Date.now() - began) / 1000)} s, ${bad} wrong`);
  for (const [what, times] of [...tally].sort()) console.log(`  ${what.padEnd(42)} ${times}`);
}

function count(tally: Map<string, number>, row: readonly Cut[], kills: number, isWrong: boolean): void {
  const end = isWrong ? "WRONG" : kills > 0 ? "made good" : "not reached";
  const times = row.length === 1 ? "" : `, killed ${kills} times`;
  const what = `${row[0]?.at}, ${row[0]?.moment}${times}: ${end}`;
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

/** A line that is written over on a terminal; elsewhere a line every fifty places. */
function progress(text: string, done: number): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${text}`);
  else if (done % 50 === 0) console.log(text);
}

function print(text: string): void {
  if (process.stdout.isTTY) process.stdout.write("\r\u001b[K");
  console.log(text);
}
