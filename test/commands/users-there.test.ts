import { readdirSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type CloudBench, cloudBench, oneInstance as database } from "./cloud-bench.ts";

const user = (name: string): string =>
  `  reader: { instance: a, username: ${name}, password: "\${secret.pw}", acl: "~* +PING" }\n`;
const theirs = { username: "reader", acl: "~* +@all" };

/** A bench with the instance `a`, and the requests on users that change something from now on. */
async function applied(more = ""): Promise<{ bench: CloudBench; id: string; writes: string[] }> {
  const bench = await cloudBench(database + more);
  const ran = await bench.gf("apply", "--auto-approve", "--no-probe");
  expect(ran.code, ran.out + ran.err).toBe(0);
  const writes: string[] = [];
  bench.cloud.meddle = ({ method, url }) => {
    if (method !== "GET" && url.includes("/v1/customer-ldap/")) writes.push(`${method} ${url}`);
    return undefined;
  };
  return { bench, id: bench.cloud.instances[0]?.id ?? "", writes };
}

const plain = (text: string): string => text.replace(/\s+/g, " ");

describe("a declared user whose name the service shows, and which nothing binds", () => {
  it("is not created over the one that is there: plan and apply name it, and the way to bind it", async () => {
    const { bench, id, writes } = await applied();
    bench.cloud.users.set(id, [theirs]);
    await bench.manifest(`${database}users:\n${user("reader")}`);
    const planned = await bench.gf("plan", "--no-probe");
    expect(plain(planned.out)).toContain(`${id}/reader exists already under this name`);
    expect(plain(planned.out)).toContain(`graphform import users.reader ${id}/reader`);
    expect(planned.out).not.toContain("does not exist yet");
    const ran = await bench.gf("apply", "--auto-approve", "--no-probe");
    expect([ran.code, writes, bench.cloud.users.get(id)]).toEqual([4, [], [theirs]]);

    expect((await bench.gf("import", "users.reader", `${id}/reader`)).code).toBe(0);
    expect((await bench.gf("plan", "--no-probe")).out).toContain("update");
  });

  it("makes a plan stale that was saved before it appeared (exit 6)", async () => {
    const { bench, id, writes } = await applied();
    await bench.manifest(`${database}users:\n${user("reader")}`);
    const file = `${bench.folder}/late.plan`;
    expect((await bench.gf("plan", "--no-probe", "--out", file)).code).toBe(0);
    bench.cloud.users.set(id, [theirs]);
    const ran = await bench.gf("apply", file, "--no-probe");
    expect([ran.code, writes, bench.cloud.users.get(id)]).toEqual([6, [], [theirs]]);
    expect(plain(ran.out + ran.err)).toContain(`graphform import users.reader ${id}/reader`);
  });

  it("is not what another user is renamed to", async () => {
    const { bench, id, writes } = await applied(`users:\n${user("writer")}`);
    bench.cloud.users.set(id, [...(bench.cloud.users.get(id) ?? []), theirs]);
    await bench.manifest(`${database}users:\n${user("reader")}`);
    const planned = await bench.gf("plan", "--no-probe");
    expect(plain(planned.out)).toContain(`${id}/reader exists already under this name`);
    expect(planned.out).not.toContain("imports:");
    const ran = await bench.gf("apply", "--auto-approve", "--no-probe");
    expect([ran.code, writes]).toEqual([4, []]);
  });

  it("is bound together with its instance, and never created over the one that is there", async () => {
    const { bench, id, writes } = await applied();
    bench.cloud.users.set(id, [{ username: "reader", acl: "~* +PING" }]);
    const forget = (): void => {
      for (const name of readdirSync(bench.folder).filter((each) => each.startsWith("state.json")))
        rmSync(`${bench.folder}/${name}`);
    };
    const ids = [`{ address: instances.a, id: ${id} }`, `{ address: users.reader, id: ${id}/reader }`];
    const importing = (each: readonly string[]): Promise<unknown> =>
      bench.manifest(`${database}users:\n${user("reader")}imports: [${each.join(", ")}]\n`);
    forget();
    await importing(ids);
    const ran = await bench.gf("apply", "--auto-approve", "--no-probe");
    expect(ran.code, ran.out + ran.err).toBe(0);
    expect(ran.out).toContain("2 to adopt");
    expect((await bench.gf("plan", "--no-probe")).out).toContain("No differences");
    forget();
    await importing(ids.slice(0, 1));
    const refused = await bench.gf("apply", "--auto-approve", "--no-probe");
    expect([refused.code, plain(refused.out)]).toEqual([4, expect.stringContaining("exists already under")]);
    expect(writes).toEqual([]);
  });

  it("that a new instance has from its beginning is not written over (exit 6)", async () => {
    const { bench, writes } = await applied();
    const { meddle } = bench.cloud;
    bench.cloud.meddle = (seen) => {
      const [, id = ""] = /instances\/([^/]+)\/users\?/.exec(seen.url) ?? [];
      if (id !== "" && !bench.cloud.users.has(id)) bench.cloud.users.set(id, [theirs]);
      return meddle(seen);
    };
    const second = database.replace("instances:\n", "").replace(/^ {2}a:/m, "  b:");
    await bench.manifest(
      `${database}${second}users:\n${user("reader").replace("instance: a", "instance: b")}`,
    );
    const ran = await bench.gf("apply", "--auto-approve", "--no-probe");
    expect([ran.code, writes], ran.out + ran.err).toEqual([6, []]);
    expect(plain(ran.out + ran.err)).toContain("has the username that is declared");
  });

  it("is bound, if it was made by a create whose answer was lost", async () => {
    const { bench, id } = await applied();
    await bench.manifest(`${database}users:\n${user("reader")}`);
    const { meddle } = bench.cloud;
    bench.cloud.meddle = (seen) => {
      meddle(seen);
      if (seen.method !== "POST" || !seen.url.includes("/v1/customer-ldap/")) return undefined;
      bench.cloud.users.set(id, [{ username: "reader", acl: "~* +PING" }]);
      bench.cloud.meddle = ({ method }) => (method === "GET" ? { status: 500, body: {} } : undefined);
      return { status: 503, body: {} };
    };
    await bench.gf("apply", "--auto-approve", "--no-probe", "--timeout", "1s");
    bench.cloud.meddle = meddle;
    const planned = await bench.gf("plan", "--no-probe");
    expect(planned.out).toContain("an earlier create was not acknowledged");
    expect(planned.out).not.toContain("exists already");
    const ran = await bench.gf("apply", "--auto-approve", "--no-probe");
    expect(ran.code, ran.out + ran.err).toBe(0);
    expect(bench.cloud.users.get(id)).toHaveLength(1);
  });
});

describe("the users of an instance that is let go of", () => {
  it("keep their logins: nothing is sent, and the plan says so", async () => {
    const { bench, id, writes } = await applied(`users:\n${user("reader")}`);
    await bench.manifest("removed: [{ address: instances.a, destroy: false, reason: handed over }]\n");
    expect(plain((await bench.gf("plan", "--no-probe")).out)).toContain("instances.a is let go of");
    // A later run would delete a user that is left out now, at an instance which nothing here owns any more.
    for (const option of ["--exclude=users.reader", "--target=instances.a"]) {
      const partly = await bench.gf("apply", "--auto-approve", "--no-probe", option);
      expect([partly.code, plain(partly.out)]).toEqual([
        4,
        expect.stringContaining("users.reader stands on it"),
      ]);
    }
    const ran = await bench.gf("apply", "--auto-approve", "--no-probe");
    expect(ran.code, ran.out + ran.err).toBe(0);
    expect([writes, bench.cloud.users.get(id)?.length]).toEqual([[], 1]);
    expect(JSON.parse(await bench.read("state.json")).resources).toEqual({});
  });
});
