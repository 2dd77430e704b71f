import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/model/clock.ts";
import { createPostgresDriver } from "../../src/state/remote/postgres/postgres-driver.ts";
import { openPostgres, type Postgres } from "../support/postgres.ts";
import { sampleState } from "./samples.ts";
import { assertSafe, found, kills, move } from "./stores/kill-a-move.ts";
import { filePlace, httpPlace, type Place, postgresPlace, s3Place } from "./stores/places.ts";

let postgres: Postgres;
let rows = 0;

beforeAll(async () => {
  postgres = await openPostgres();
  await createPostgresDriver({ name: "shop" }, postgres.credentials).prepare();
}, 300_000);
afterAll(() => postgres?.close());

const places: readonly (readonly [name: string, make: () => Promise<Place>])[] = [
  ["a file", filePlace],
  ["http, plain", () => httpPlace("plain")],
  ["http, gitlab", () => httpPlace("gitlab")],
  ["http, gitea", () => httpPlace("gitea")],
  ["s3", s3Place],
  ["postgres", newRow],
];
const pairs = places.flatMap((one, index) => places.slice(index).map((other) => [one, other] as const));

/**
 * Pairs in which each kind of store is once, between which 1 000 are moved: what grows is how each reads and writes. `MOVES=all` moves as
 * many between all.
 */
const large: readonly string[] = ["a file s3", "http, gitlab postgres"];
const isAll = process.env["MOVES"] === "all";

it.each(
  pairs.map(([[a, makeA], [b, makeB]]) => {
    const count = isAll || large.includes(`${a} ${b}`) ? 1000 : 20;
    return [a, b, count, makeA, makeB] as const;
  }),
)(
  "%s and %s: %i resources move there and back, killed at every write",
  async (_, __, count, makeOne, makeOther) => {
    const first = sampleState(count);
    const { resources, lineage, key, intents } = first;
    const content = { resources, lineage, key, intents };
    const [one, other] = [await makeOne(), await makeOther()];
    const store = one.open();
    const lock = await store.lock("apply", { clock: systemClock });
    await store.read();
    await store.write(first);
    await lock.release();
    for (const kill of kills)
      for (const [from, to] of [
        [one, other],
        [other, one],
      ] as const) {
        expect(await move(from, to, kill)).toBe("killed");
        await assertSafe(from, to, kill, content);
        expect(await move(from, to)).toMatchObject({ state: content });
        expect([(await found(from)).is, (await found(to)).is]).toEqual(["state-moved", "whole"]);
      }
  },
);

function newRow(): Promise<Place> {
  rows += 1;
  return postgresPlace(postgres, `shop-${rows}`);
}
