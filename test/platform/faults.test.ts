import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { createFaults, type FaultRule } from "../../src/platform/control/faults.ts";
import { at, basic, pro, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterEach(() => test.call("DELETE", "/_platform/faults"));
afterAll(() => test.close());

async function arm(...rules: readonly Json[]): Promise<void> {
  const answer = await test.call("PUT", "/_platform/faults", rules);
  if (answer.status !== 200) throw new Error(`the rules were refused: ${answer.text}`);
}

const newInstance: JsonObject = { cloud_provider: "aws", region: "us-east-1", requestParams: {} };
const count = async (): Promise<number> => JSON.parse((await test.call("GET", pro)).text).ids.length;

describe("faults on answers", () => {
  it("latency: the answer comes later, and is right", async () => {
    await arm({ operation: "list", fault: { latency: 120 } });
    const start = performance.now();
    expect((await test.call("GET", pro)).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThan(110);
  });

  it.each([
    [429, "too_many_requests", true, false],
    [500, "failed_request", true, true],
    [503, "service_unavailable", true, true],
    [403, "forbidden", false, false],
  ])("status %d in the error shape, without the work", async (status, name, temporary, fault) => {
    const before = await count();
    await arm({ operation: "create", count: 1, fault: { status, retryAfter: 2 } });
    const answer = await test.call("POST", pro, newInstance);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, "2"]);
    expect(answer.headers.get("content-type")).toBe("application/vnd.goa.error");
    expect(answer.body).toMatchObject({ name, temporary, fault });
    expect(await count()).toBe(before);
  });

  it("a status after the work", async () => {
    const before = await count();
    await arm({ operation: "create", count: 1, fault: { status: 500, work: true } });
    expect((await test.call("POST", pro, newInstance)).status).toBe(500);
    expect(await count()).toBe(before + 1);
  });

  it("reset before the work: nothing is done", async () => {
    const before = await count();
    await arm({ operation: "create", count: 1, fault: { reset: "before" } });
    await expect(test.call("POST", pro, newInstance)).rejects.toThrow();
    expect(await count()).toBe(before);
  });

  it("reset after the work: all is done and nobody hears", async () => {
    const before = await count();
    await arm({ operation: "create", count: 1, fault: { reset: "after" } });
    await expect(test.call("POST", pro, newInstance)).rejects.toThrow();
    expect(await count()).toBe(before + 1);
  });

  it("hang: silence, then the connection is cut", async () => {
    await arm({ operation: "list", count: 1, fault: { hang: 150 } });
    const start = performance.now();
    await expect(test.call("GET", pro)).rejects.toThrow();
    expect(performance.now() - start).toBeGreaterThan(140);
  });

  it("body: other bytes in place of the right ones, the work done", async () => {
    const before = await count();
    await arm({ operation: "create", count: 1, fault: { body: "<html>not json" } });
    const answer = await test.call("POST", pro, newInstance);
    expect([answer.status, answer.text]).toEqual([202, "<html>not json"]);
    expect(await count()).toBe(before + 1);
  });

  it("strikes sign-in and refresh, too, and keeps cookies of an answer that is only slowed", async () => {
    await arm(
      { operation: "signin", fault: { status: 500 }, count: 1 },
      { operation: "signin", fault: { retryAfter: 1 } },
    );
    const path = "/2022-09-01-00/resource-instance/user/signin";
    expect((await test.bare("POST", path, undefined, basic(test.username, test.password))).status).toBe(500);
    const second = await test.bare("POST", path, undefined, basic(test.username, test.password));
    expect([second.status, second.headers.getSetCookie().length]).toEqual([200, 2]);
  });
});

describe("faults on operations", () => {
  it("failed: FAILED with its reason, recoverable by an update", async () => {
    await arm({ operation: "create", count: 1, fault: { failed: "no capacity in us-east-1a" } });
    const path = `${pro}/${await test.create()}`;
    const { body } = await test.until(path, "FAILED");
    const failure = at(
      body["detailedNetworkTopology"],
      "r-pro-standalone",
      "recentDeploymentFailure",
      "failureReason",
    );
    expect(failure).toBe("no capacity in us-east-1a");
    const events = await test.call(
      "GET",
      `/2022-09-01-00/resource-instance/${path.slice(pro.length + 1)}/audit-events`,
    );
    expect(events.text).toContain("no capacity in us-east-1a");
    await test.call("PUT", path, { requestParams: { name: "again" } });
    await test.until(path, "RUNNING");
  });

  it("stuck: the transient status stays; only a delete helps", async () => {
    const path = `${pro}/${await test.create()}`;
    await test.until(path, "RUNNING");
    await arm({ operation: "restart", count: 1, fault: { stuck: true } });
    await test.call("POST", `${path}/restart`);
    await test.until(path, "RESTARTING");
    expect((await test.call("POST", `${path}/restart`)).status).toBe(409);
    expect((await test.call("DELETE", path)).status).toBe(202);
    await test.until(path, 404);
  });

  it("staleStatus: of one request", async () => {
    const path = `${pro}/${await test.create()}`;
    await test.until(path, "RUNNING");
    await arm({ operation: "stop", count: 1, fault: { staleStatus: 100 } });
    await test.call("POST", `${path}/stop`);
    expect((await test.call("GET", path)).body["status"]).toBe("RUNNING");
    await test.until(path, "STOPPED");
  });

  it("missingFromList: a created instance is described but not listed", async () => {
    await arm({ operation: "create", count: 1, fault: { missingFromList: true } });
    const id = await test.create();
    expect((await test.call("GET", pro)).text).not.toContain(id);
    expect((await test.call("GET", "/2022-09-01-00/resource-instance")).text).not.toContain(id);
    expect((await test.call("GET", `${pro}/${id}`)).status).toBe(200);
  });

  it("missingFromList on a list: the newest is left out of that answer", async () => {
    const id = await test.create();
    await arm({ operation: "list", count: 1, fault: { missingFromList: true } });
    expect((await test.call("GET", pro)).text).not.toContain(id);
    expect((await test.call("GET", pro)).text).toContain(id);
  });
});

describe("which requests a rule strikes", () => {
  const subject = (path: string, method = "GET", operation = "list") => ({ method, path, operation });
  const hits = (
    rule: Omit<FaultRule, "fault">,
    paths: readonly string[],
    now = () => 0,
  ): readonly boolean[] => {
    const faults = createFaults([{ ...rule, fault: { status: 500 } }], now);
    return paths.map((path) => faults.match(subject(path)).status === 500);
  };

  it.each([
    ["any", {}, [true, true, true]],
    ["a method", { method: "get" }, [true, true, true]],
    ["another method", { method: "POST" }, [false, false, false]],
    ["an operation", { operation: "create" }, [false, false, false]],
    ["a glob", { path: "/a/*" }, [true, false, true]],
    ["a glob is anchored and its dots are dots", { path: "/." }, [false, false, false]],
    ["a regular expression", { path: "^/(b|a/x)$" }, [true, true, false]],
    ["after", { after: 2 }, [false, false, true]],
    ["count", { count: 2 }, [true, true, false]],
    ["after and count", { after: 1, count: 1 }, [false, true, false]],
  ])("%s", (_why, rule, expected) => {
    expect(hits(rule, ["/a/x", "/b", "/a/y/z"])).toEqual(expected);
  });

  it("probability depends on the seed alone", () => {
    const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);
    const first = hits({ probability: 0.08, seed: 7 }, paths);
    expect(hits({ probability: 0.08, seed: 7 }, paths)).toEqual(first);
    expect(hits({ probability: 0.08, seed: 8 }, paths)).not.toEqual(first);
    const share = first.filter(Boolean).length;
    expect(share).toBeGreaterThan(50);
    expect(share).toBeLessThan(115);
    expect(hits({ probability: 0 }, paths)).not.toContain(true);
    expect(hits({ probability: 1 }, paths)).not.toContain(false);
  });

  it("perSecond strikes what is above the rate", () => {
    let time = 0;
    const faults = createFaults([{ perSecond: 2, fault: { status: 429 } }], () => time);
    const ask = () => faults.match(subject("/")).status;
    expect([ask(), ask(), ask()]).toEqual([undefined, undefined, 429]);
    time = 1000;
    expect([ask(), ask(), ask()]).toEqual([undefined, undefined, 429]);
  });

  it("concurrent strikes what is above so many at a time", async () => {
    await arm(
      { operation: "list", fault: { latency: 60 } },
      { operation: "list", concurrent: 2, fault: { status: 429, retryAfter: 1 } },
    );
    const answers = await Promise.all(Array.from({ length: 5 }, () => test.call("GET", pro)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429]);
  });

  it("several rules merge", () => {
    const faults = createFaults([{ fault: { latency: 5 } }, { fault: { status: 503 } }], () => 0);
    expect(faults.match(subject("/"))).toEqual({ latency: 5, status: 503 });
  });
});

describe("rules at run time", () => {
  it("are shown, replaced and dropped", async () => {
    const rules = [{ operation: "list", count: 1, fault: { status: 500 } }];
    await arm(...rules);
    expect((await test.call("GET", "/_platform/faults")).body).toEqual({ rules });
    expect((await test.call("DELETE", "/_platform/faults")).body).toEqual({ rules: [] });
    expect((await test.call("GET", pro)).status).toBe(200);
  });

  it.each([
    ["no list", { fault: {} }, /list/],
    ["no fault", [{ method: "GET" }], /rule 0 has no fault/],
    ["an unknown key", [{ fault: {} }, { when: 1, fault: {} }], /rule 1: when is not known/],
    ["an unknown fault", [{ fault: { explode: true } }], /fault.explode is not known/],
    ["a wrong type", [{ fault: { latency: "5" } }], /fault.latency/],
    ["a status that is none", [{ fault: { status: 99 } }], /fault.status/],
    ["a broken pattern", [{ path: "^(", fault: {} }], /path is no pattern/],
    ["a probability above one", [{ probability: 2, fault: {} }], /probability/],
  ])("%s is refused with its place", async (_why, rules, message) => {
    const answer = await test.call("PUT", "/_platform/faults", rules);
    expect([answer.status, answer.body["message"]]).toEqual([400, expect.stringMatching(message)]);
  });

  it("need the platform's credentials or a session", async () => {
    expect((await test.bare("GET", "/_platform/faults")).status).toBe(400);
    expect(
      (await test.bare("GET", "/_platform/faults", undefined, basic(test.username, "wrong"))).status,
    ).toBe(401);
    expect(
      (await test.bare("GET", "/_platform/faults", undefined, basic(test.username, test.password))).status,
    ).toBe(200);
  });
});
