import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import type { Database } from "../../../src/platform/engine/database.ts";
import type { DatabaseNode, DatabaseSpec } from "../../../src/platform/engine/spec.ts";
import { ask, kill, prepare, until } from "./fixture.ts";
import { startWriters } from "./writers.ts";

const ground = prepare();

/** How often each moment comes; `GRAPHFORM_ROUNDS=8 npm test -- test/platform/engine/killed-failover.test.ts` is more, and more of a kind. */
const rounds = Number(process.env["GRAPHFORM_ROUNDS"] ?? 1);

/** A failover has no more moments than that. */
const mostMoments = 30;

interface Trial {
  readonly moment: number;
  readonly acknowledged: number;
  readonly lost: number;
}

const more: readonly (readonly [string, readonly number[]])[] = [
  ["together with the former primary", [0]],
  ["together with the new primary", [1]],
];

it.each<readonly [string, readonly number[]]>([
  ["alone", []],
  ["together with both nodes", [0, 1]],
  ...(rounds > 1 ? more : []),
])(
  "a platform that is killed at any moment of a failover, %s, loses no acknowledged write",
  async (_, victims) => {
    const trials: Trial[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (let moment = 1; moment <= mostMoments; moment += 1) {
        const trial = await killAt(moment, victims);
        trials.push(trial);
        // It got to its end: there are no more moments.
        if (trial.moment === 0) break;
      }
    }
    const sum = trials.reduce((total, { acknowledged }) => total + acknowledged, 0);
    // biome-ignore lint/suspicious/noConsole: the figures are what this is for.
    console.log(
      `${trials.length} failovers, ${sum} writes acknowledged, lost: ${trials.map(({ lost }) => lost).join(" ")}`,
    );
    expect(trials.filter(({ lost }) => lost > 0)).toEqual([]);
    // It died in the middle more often than not.
    expect(trials.filter(({ moment }) => moment > 0).length).toBeGreaterThan(4 * rounds);
  },
  60_000 + 120_000 * rounds,
);

/** A failover that ends at a moment, under writers, and what was lost once the database is brought up again. Moment 0: it did not end there. */
async function killAt(moment: number, victims: readonly number[]): Promise<Trial> {
  // With `everysec`, the disk is up to seconds behind what was acknowledged: a node that is killed has lost that.
  const spec = ground.spec({ nodes: 2, aof: victims.length > 0 ? "always" : "everysec" });
  const { child, nodes } = await startElsewhere(spec);
  const writers = startWriters(nodes.map(({ port }) => port));
  await until(() => writers.acknowledged.size > 20);
  const dead = once(child, "exit");
  child.send({ failoverUntil: moment });
  const end = await Promise.race([dead.then(() => "dead" as const), once(child, "message")]);
  child.kill("SIGKILL");
  await dead;
  for (const victim of victims) await kill(nodes[victim]?.pid);
  const database = await ground.engine.start(spec);
  writers.follow(database.nodes().map(({ port }) => port));
  const before = writers.acknowledged.size;
  await until(() => writers.acknowledged.size > before + 20);
  await writers.stop();
  const present = await numbersIn(database);
  const lost = [...writers.acknowledged].filter((number) => !present.has(number)).length;
  await ground.engine.destroy(spec.dir);
  return { moment: end === "dead" ? moment : 0, acknowledged: writers.acknowledged.size, lost };
}

async function startElsewhere(
  spec: DatabaseSpec,
): Promise<{ readonly child: ChildProcess; readonly nodes: readonly DatabaseNode[] }> {
  const child = fork(new URL("./start-and-wait.ts", import.meta.url), {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.send({ start: spec });
  const [nodes]: DatabaseNode[][] = await once(child, "message");
  return { child, nodes: nodes ?? [] };
}

async function numbersIn(database: Database): Promise<ReadonlySet<number>> {
  const reply = await ask(database, ["GRAPH.RO_QUERY", "w", "MATCH (n:W) RETURN n.i"]);
  const rows: unknown = Array.isArray(reply) ? reply[1] : [];
  return new Set(Array.isArray(rows) ? rows.map((row) => Number(row[0])) : []);
}
