import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../../support/fake-service.ts";
import { quickProfileFile } from "../../support/quick-profile.ts";
import { type SharedStore, sharedStores } from "../../support/shared-stores.ts";
import { openWorkspace, type Running, until, type Workspace } from "../../support/workspace.ts";

const password = "a-password-of-tests";

/** Two users, or two jobs of a pipeline, each with a folder of its own, and one state in a store of this kind. */
export function playSharedState(kind: string): void {
  describe(`a state that a team shares: ${kind}`, () => {
    let store: SharedStore;
    let service: FakeService;
    let one: Workspace;
    let two: Workspace;

    const manifest = (names: readonly string[]): string => {
      // They differ in what is fixed: no two creates are in flight together.
      const instances = names.map(
        (name, index) =>
          `  ${name}: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: ${name}, memoryRequestsAndLimits: 2200M, graphDBCacheSize: ${30 + index}, graphdbUser: app, graphdbPassword: "\${env.PW}" } }\n`,
      );
      return `apiVersion: graphform/v1
name: shop
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
state: ${JSON.stringify(store.section)}
instances:
${instances.join("")}`;
    };

    beforeAll(async () => {
      const start = sharedStores[kind];
      if (start === undefined) throw new Error(`no store ${kind}`);
      [store, service] = await Promise.all([start("shop"), FakeService.start()]);
      one = openWorkspace(manifest(["a"]));
      two = openWorkspace(manifest(["a"]));
      for (const user of [one, two]) Object.assign(user.env, service.env, store.env, { PW: password });
    });
    afterAll(async () => {
      await Promise.all([one.close(), two.close()]);
      await store.close();
      await service.close();
    });

    /** Waits until a create is recorded in the store. */
    const recorded = (count: number): Promise<string> =>
      until(async () => {
        const text = await store.text().catch(() => undefined);
        const state: { resources?: object } = text === undefined ? {} : JSON.parse(text);
        return text !== undefined && Object.keys(state.resources ?? {}).length >= count ? text : undefined;
      }, `${count} resources in the store`);

    const resources = async (): Promise<object> => JSON.parse((await store.text()) ?? "").resources;

    /** Lets whoever comes next have the lock of a run that is gone. */
    const freeLock = async (user: Workspace): Promise<void> => {
      if (store.expires) return store.expire();
      const { out } = await user.run("state", "unlock");
      const id = /graphform state unlock (\S+)/.exec(out)?.[1];
      if (id !== undefined) expect(await user.run("state", "unlock", id)).toMatchObject({ code: 0 });
    };

    const finishEverything = (): void => {
      service.duration = 0;
      for (const instance of service.instances.values()) instance.next = { at: 0, status: "RUNNING" };
    };

    it("is prepared, and has no state yet", async () => {
      expect(await one.run("state", "init")).toMatchObject({
        code: 0,
        out: expect.stringMatching(
          /(can keep the state|reads it back before it creates anything)\.[\s\S]*does not exist yet/,
        ),
      });
      expect(await store.text()).toBeUndefined();
    });

    it("one job applies, the other names it and exits 5; after kill -9 the next one takes over", async () => {
      service.duration = 3_600_000;
      const first = one.start("apply", "--auto-approve");
      await recorded(1);
      const { out } = await two.run("state", "unlock");
      const refused = await two.run("apply", "--auto-approve");
      expect(refused).toMatchObject({
        code: 5,
        err: expect.stringMatching(/is locked: .*has held it/),
      });
      const id = /graphform state unlock ([0-9a-f]+)/.exec(out)?.[1] ?? "none";
      expect(refused.err).toContain(id);
      expect(await two.run("state", "unlock", id.slice(1))).toMatchObject({ code: 1 });

      first.child.kill("SIGKILL");
      await first.ended;
      await freeLock(two);
      finishEverything();
      expect(await two.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
      expect(service.instances.size).toBe(1);
    });

    it("a job that was stopped and is woken after a takeover writes nothing, and creates nothing", async () => {
      for (const user of [one, two]) user.write("graphform.yaml", manifest(["a", "b"]));
      service.duration = 3_600_000;
      const first = one.start("apply", "--auto-approve");
      await recorded(2);
      first.child.kill("SIGSTOP");
      await freeLock(two);
      finishEverything();
      const next = await two.run("apply", "--auto-approve", "--lock-timeout", "20s");
      expect(next).toMatchObject({ code: 0 });
      const before = await store.text();
      const creates = service.writes().length;
      first.child.kill("SIGCONT");
      expect(await first.ended).toMatchObject({
        code: 1,
        err: expect.stringMatching(/taken away|changed by|could not be/),
      });
      expect(await store.text()).toBe(before);
      expect(service.writes().length).toBe(creates);
      expect(service.instances.size).toBe(2);
    });

    // Where locks do not end by themselves, only the tries of each request end: some 15 s for each of three.
    it("a store that goes away in the middle of an apply of 20: what happened is pushed, and nothing is made twice", async () => {
      const names = ["a", "b", ...Array.from({ length: 20 }, (_, index) => `c${index}`)];
      for (const user of [one, two]) user.write("graphform.yaml", manifest(names));
      let made = 0;
      let gone: Promise<void> | undefined;
      service.misbehave = ({ operation }) => {
        if (operation === "create") made += 1;
        if (made === 5) gone ??= store.away();
        return undefined;
      };
      one.env["GRAPHFORM_STATE_LEASE"] = "6s";
      const cut: Running = one.start("apply", "--auto-approve", "--parallelism", "3");
      const { code, err } = await cut.ended;
      await gone;
      expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("graphform state push") });
      expect(made).toBe(5);
      const [, file = ""] = /graphform state push (\S+?)[,;\s]/.exec(err) ?? [];
      expect(one.has(".graphform/shop.errored.state.json")).toBe(true);
      const kept = one.read(".graphform/shop.errored.state.json");
      service.behave();
      await store.back();
      await freeLock(one);

      // Nothing changes anything before the push; a plan counts in what the file says, and waits for the push.
      const before = await resources();
      for (const args of [
        ["apply", "--auto-approve"],
        ["state", "rm", "instances.a"],
      ])
        expect(await one.run(...args)).toMatchObject({
          code: 1,
          err: expect.stringMatching(
            /errored\.state\.json has changes of an earlier run[\s\S]*graphform state push/,
          ),
        });
      const planned = await one.run("plan", "--out", "shop.gfplan");
      expect(planned, planned.err).toMatchObject({ code: 0, err: expect.stringContaining("state push") });
      const known = Object.keys(JSON.parse(kept).state.resources).length;
      expect(planned.out).toMatch(new RegExp(`Plan: ${22 - known} to add, 0 to change, 0 to destroy`));
      two.write("shop.gfplan", one.read("shop.gfplan"));
      expect(await two.run("apply", "shop.gfplan")).toMatchObject({
        code: 6,
        err: expect.stringContaining("the state is older"),
      });
      expect(await resources()).toEqual(before);
      expect(made).toBe(5);

      const pushed = await one.run("state", "push", file);
      expect(pushed, pushed.err).toMatchObject({
        code: 0,
        out: expect.stringMatching(/is at version \d+ now/),
      });
      expect(one.has(".graphform/shop.errored.state.json")).toBe(false);
      finishEverything();
      expect(await one.run("apply", "shop.gfplan")).toMatchObject({ code: 0 });
      expect(service.instances.size).toBe(22);
      expect(JSON.parse((await two.run("state", "list", "--json")).out)).toHaveLength(22);
      expect(await two.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
      // A copy that was kept too long changes nothing.
      const after = await resources();
      one.write("copy.json", kept);
      expect(await one.run("state", "push", "copy.json")).toMatchObject({
        code: 0,
        err: expect.stringContaining("is not needed any more"),
      });
      expect(await resources()).toEqual(after);
      expect(one.has("copy.json")).toBe(false);
      const { key }: { key: string } = JSON.parse((await store.text()) ?? "");
      const secrets = [password, ...store.secrets];
      for (const text of [kept, err, pushed.out]) expect(text).not.toContain(key);
      for (const text of [await store.everything(), kept, err, pushed.out])
        for (const secret of secrets) expect(text).not.toContain(secret);
    }, 180_000);

    it("moves to a file and back, and says what the manifest has to say", async () => {
      const there = await one.run("state", "migrate", "--to", "kept.json");
      expect(there).toMatchObject({ code: 0, out: expect.stringContaining("type: file") });
      expect(await one.run("plan")).toMatchObject({ code: 1, err: expect.stringContaining("was moved to") });
      expect(await one.run("plan", "--detailed-exitcode", "--state", "kept.json")).toMatchObject({ code: 0 });
      const back = await one.run(
        "state",
        "migrate",
        "--state",
        "kept.json",
        "--to",
        String(store.section["type"]),
      );
      expect(back).toMatchObject({
        code: 0,
        out: expect.stringContaining(`type: ${String(store.section["type"])}`),
      });
      expect(await one.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
      expect(await one.run("plan", "--state", "kept.json")).toMatchObject({ code: 1 });
    });

    it("doctor tries it, names the source of its credentials, and says what is wrong with them", async () => {
      const well = await one.run("doctor");
      expect(well.out).toMatch(/ok {4} {2}state credentials: \S+/);
      expect(well.out).toMatch(/ok {4} {2}state store: .*the lock was taken and given back/);
      for (const secret of store.secrets) expect(well.out).not.toContain(secret);
      for (const name of Object.keys(store.env))
        if (/PASSWORD|SECRET/.test(name)) one.env[name] = "quite-another-one";
      const ill = await one.run("doctor");
      expect(ill).toMatchObject({ code: 1, out: expect.stringMatching(/failed {2}state: /) });
      expect(ill.out).not.toContain("quite-another-one");
    });
  });
}
