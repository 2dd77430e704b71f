import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Ended, openBench, type Subject } from "./bench.ts";
import type { Moment } from "./cutting-proxy.ts";
import { declared } from "./manifests.ts";
import { boundTo, idsIn, secretsIn, wrongIn } from "./wrong-in.ts";

/** Where an apply is cut: at its n-th request, or at the n-th change of the state's files. */
export type Cut =
  | { readonly at: "request"; readonly n: number; readonly moment: Moment }
  | { readonly at: "write"; readonly n: number; readonly moment: "before" | "after" };

/** What became of it. */
export interface Verdict {
  /** How many of the cuts were reached: an apply may end before it comes so far. */
  readonly kills: number;
  /** What was wrong after one more apply; empty where nothing was. */
  readonly wrong: readonly string[];
}

/** How many places a whole apply has to be cut at. */
export interface Extent {
  readonly requests: number;
  readonly writes: number;
}

/** Loads the module that ends the process at a write. */
const dying = `--import=${new URL("dies-at-write.mjs", import.meta.url).href}`;

/** Applies without a cut, and counts what could be cut. Throws where that leaves anything wrong. */
export async function extentOf(subject: Omit<Subject, "echo">): Promise<Extent> {
  const bench = await openBench({ ...subject, echo: false });
  try {
    const log = join(bench.dir, "writes.log");
    const ended = await bench.apply({ NODE_OPTIONS: dying, CUT_LOG: log });
    const requests = bench.proxy.count;
    const wrong = await wrongAfter(ended, bench, subject);
    if (wrong.length > 0) throw new Error(`an apply that nobody cuts: ${wrong.join("; ")}`);
    return { requests, writes: readFileSync(log, "utf8").trim().split("\n").length };
  } finally {
    await bench.close();
  }
}

/**
 * Cuts an apply, and what runs after it, at one place each; applies once more, and looks for what is doubled, left behind,
 * forgotten or still to do.
 */
export async function tryCuts(cuts: readonly Cut[], subject: Omit<Subject, "echo">): Promise<Verdict> {
  // Half of the services show what they were given.
  const bench = await openBench({ ...subject, echo: (cuts[0]?.n ?? 0) % 2 === 0 });
  const wrong: string[] = [];
  let kills = 0;
  try {
    const { gone } = declared(subject.phase, subject.profile);
    const mayGo = gone.map((address) => boundTo(bench.dir, address));
    const stays = new Set<string>();
    const note = (): void => {
      for (const id of idsIn(bench.dir)) if (!mayGo.includes(id)) stays.add(id);
    };
    note();
    for (const cut of cuts) {
      const { code, signal, said } = await applyCut(cut, bench);
      for (const file of secretsIn(bench.dir)) wrong.push(`${file} holds a password`);
      if (signal !== "SIGKILL") {
        // A simulated person who is slow is nobody's mistake: the next apply goes on.
        if (code !== 0 && code !== waitsForPerson)
          wrong.push(`an apply that was not killed ended with ${code}: ${said}`);
        break;
      }
      kills += 1;
      note();
    }
    wrong.push(...(await wrongAfter(await applyToTheEnd(bench), bench, subject)));
    const there = idsIn(bench.dir);
    for (const id of stays) if (!there.includes(id)) wrong.push(`${id} was there, and was deleted`);
    return { kills, wrong };
  } finally {
    await bench.close();
  }
}

/** Exit code of an apply that waits for a person: for the one who connects the cloud account. */
const waitsForPerson = 8;

/** Applies, and once more for each time that the simulated person was not there yet: three times at most. */
async function applyToTheEnd(bench: Bench): Promise<Ended> {
  const first = await bench.apply();
  const second = first.code === waitsForPerson ? await bench.apply() : first;
  return second.code === waitsForPerson ? bench.apply() : second;
}

async function applyCut(cut: Cut, bench: Bench): Promise<Ended> {
  bench.proxy.disarm();
  if (cut.at === "request") bench.proxy.arm(cut.n, cut.moment, bench.kill);
  const here = { NODE_OPTIONS: dying, CUT_AT: String(cut.n), CUT_WHEN: cut.moment };
  const ended = await bench.apply(cut.at === "write" ? here : {});
  bench.proxy.disarm();
  return ended;
}

async function wrongAfter(
  again: Ended,
  bench: Bench,
  { phase, profile }: Omit<Subject, "echo">,
): Promise<readonly string[]> {
  const plan = await bench.plan();
  const wrong = [...wrongIn(bench.dir, declared(phase, profile))];
  if (again.code !== 0) wrong.push(`the next apply ended with ${again.code}: ${again.said}`);
  if (plan.code !== 0) wrong.push(`the plan after it ended with ${plan.code}: ${plan.said}`);
  return wrong;
}
