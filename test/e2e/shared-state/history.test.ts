import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/model/clock.ts";
import { createFileStore } from "../../../src/state/file-store.ts";
import { sampleState } from "../../state/samples.ts";
import { openPostgres, type Postgres } from "../../support/postgres.ts";
import { type S3Server, startS3Server } from "../../support/s3-server.ts";
import { openWorkspace, type Workspace } from "../../support/workspace.ts";

const first = sampleState(3);
let user: Workspace;
let bucket: S3Server;
let postgres: Postgres;

beforeAll(async () => {
  [bucket, postgres] = await Promise.all([startS3Server(), openPostgres()]);
  bucket.versioned = true;
  user = openWorkspace("apiVersion: graphform/v1\nname: shop\ninstances: {}\n");
  const { accessKeyId, secretAccessKey } = bucket;
  Object.assign(user.env, postgres.credentials, {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  });
});
afterAll(async () => {
  await user.close();
  await Promise.all([bucket.close(), postgres.close()]);
});

const addresses: { readonly [kind: string]: () => string } = {
  file: () => "kept.json",
  s3: () => `s3://${bucket.bucket}/shop.json?endpoint=${encodeURIComponent(bucket.origin)}`,
  postgres: () => `postgres://127.0.0.1:${postgres.port}/ops?name=shop&sslmode=disable`,
};

/** Puts the sample there, as an apply and a move would. */
async function begin(address: string): Promise<void> {
  const path = address === "kept.json" ? address : `from-${Date.now()}.json`;
  const store = createFileStore({ path: join(user.dir, path), name: "shop" });
  const lock = await store.lock("apply", { clock: systemClock });
  await store.read();
  await store.write(first);
  await lock.release();
  if (path === address) return;
  const moved = await user.run("state", "migrate", "--state", path, "--to", address);
  expect(moved, moved.err).toMatchObject({ code: 0 });
}

interface Version {
  readonly id: string;
  readonly serial: number;
  readonly savedAt: string;
}

interface Pulled {
  readonly serial: number;
  readonly resources: readonly { readonly address: string }[];
}

function pulledFrom(out: string): Pulled {
  return JSON.parse(out);
}

function addressesIn({ resources }: Pulled): readonly string[] {
  return resources.map(({ address }) => address).sort();
}

describe.each(Object.entries(addresses))("versions before: %s", (kind, addressOf) => {
  it("are listed, newest first, and printed without the key", async () => {
    const address = addressOf();
    await begin(address);
    for (const [from, to] of [
      ["db0", "one"],
      ["one", "two"],
    ]) {
      const edited = await user.run(
        "state",
        "mv",
        `instances.${from}`,
        `instances.${to}`,
        "--state",
        address,
      );
      expect(edited, edited.err).toMatchObject({ code: 0 });
    }
    const listed = await user.run("state", "history", "--json", "--state", address);
    expect(listed, listed.err).toMatchObject({ code: 0 });
    const versions: readonly Version[] = JSON.parse(listed.out);
    const serials = versions.map(({ serial }) => serial);
    expect(serials).toEqual(serials.toSorted((a, b) => b - a));
    expect(versions.length).toBeGreaterThanOrEqual(kind === "file" ? 1 : 2);

    const current = await user.run("state", "pull", "--state", address);
    const now = pulledFrom(current.out);
    expect(addressesIn(now)).toEqual(["instances.db1", "instances.db2", "instances.two"]);
    const before = versions.find(({ serial }) => serial < now.serial);
    const pulled = await user.run("state", "pull", before?.id ?? "none", "--state", address);
    expect(pulled, pulled.err).toMatchObject({ code: 0 });
    const then = pulledFrom(pulled.out);
    expect(then).toMatchObject({ serial: before?.serial, lineage: first.lineage });
    expect(addressesIn(then)).toEqual(["instances.db1", "instances.db2", "instances.one"]);
    expect(versions.map(({ savedAt }) => Date.parse(savedAt))).not.toContain(Number.NaN);
    for (const { out } of [pulled, current, listed]) expect(out).not.toContain(first.key);

    const table = await user.run("state", "history", "--state", address);
    expect(table).toMatchObject({ code: 0, err: expect.stringContaining("graphform state pull") });
    for (const { id, serial } of versions)
      expect(table.out.split("\n")).toContainEqual(expect.stringMatching(new RegExp(`^${serial} .*${id}$`)));
    const unknown = await user.run("state", "pull", "no-such", "--state", address);
    expect({ kind, ...unknown }).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("graphform state history"),
    });
  });
});

describe("doctor", () => {
  it("says by how much the clock of this machine differs from that of the store", async () => {
    const clock = async (): Promise<string> => {
      const { out } = await user.run("doctor", "--state", addresses["s3"]?.() ?? "");
      return out.split("\n").find((line) => line.includes("state clock")) ?? out;
    };
    expect(await clock()).toMatch(/^ok .*agree within 10 s/);
    bucket.advance(30_000);
    expect(await clock()).toMatch(
      /^failed .*clock of this machine is (29|30|31) s behind that of 127\.0\.0\.1/,
    );
    bucket.advance(-60_000);
    expect(await clock()).toMatch(
      /^failed .*clock of this machine is (29|30|31) s ahead of that of 127\.0\.0\.1/,
    );
  });
});
