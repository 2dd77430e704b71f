import { expect, it, onTestFinished } from "vitest";
import { FakeService } from "../../support/fake-service.ts";
import { quickProfileFile } from "../../support/quick-profile.ts";
import { sharedStores } from "../../support/shared-stores.ts";
import { openWorkspace, until } from "../../support/workspace.ts";

it("a job that was stopped while another one took its lock changes nothing at the service when it goes on", async () => {
  const start = sharedStores["http, gitlab"];
  if (start === undefined) throw new Error("no such store");
  const [store, service] = await Promise.all([start("shop"), FakeService.start()]);
  const instance = (name: string, cache: number): string =>
    `  ${name}: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: ${name}, memoryRequestsAndLimits: 2200M, graphDBCacheSize: ${cache}, graphdbUser: app, graphdbPassword: "\${env.PW}" } }\n`;
  const manifest = `apiVersion: graphform/v1
name: shop
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
state: ${JSON.stringify(store.section)}
instances:
${instance("a", 30)}${instance("b", 31)}${instance("c", 32)}`;
  const [one, two] = [openWorkspace(manifest), openWorkspace(manifest)];
  onTestFinished(async () => {
    await Promise.all([one.close(), two.close()]);
    await Promise.all([store.close(), service.close()]);
  });
  for (const user of [one, two])
    Object.assign(user.env, service.env, store.env, { PW: "a-password-of-tests" });
  one.env["GRAPHFORM_STATE_LEASE"] = "3s";
  service.duration = 3_600_000;
  const first = one.start("apply", "--auto-approve", "--parallelism", "1", "--json");
  await until(async () => {
    const [id] = service.instances.keys();
    return (id !== undefined && ((await store.text()) ?? "").includes(id)) || undefined;
  }, "the record of the first create and its id");
  first.child.kill("SIGSTOP");
  const stopped = Date.now();

  service.duration = 0;
  for (const made of service.instances.values()) made.next = { at: 0, status: "RUNNING" };
  const refused = await two.run("apply", "--auto-approve");
  expect(refused).toMatchObject({ code: 5, err: expect.not.stringContaining(" ago") });
  const id = /graphform state unlock (\S+)/.exec(refused.err)?.[1] ?? "none";
  expect(await two.run("state", "unlock", id)).toMatchObject({ code: 0 });
  expect(await two.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  expect(service.instances.size).toBe(3);
  await until(() => Date.now() - stopped > 2500 || undefined, "the end of what the last proof allows");

  service.requests.length = 0;
  first.child.kill("SIGCONT");
  const { code, out, err } = await first.ended;
  expect(code).toBe(1);
  // A read that was about to leave when the job was stopped may still leave.
  expect(service.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(service.instances.size).toBe(3);
  expect(err).toMatch(
    new RegExp(`the lock ${id} of .* was removed while apply was at work: another program`),
  );
  const codes = [...out.matchAll(/"type":"change_summary".*?"exit_code":(\d+)/g)].map(([, exit]) => exit);
  expect(codes.at(-1)).toBe("1");
  expect(await two.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
}, 240_000);
