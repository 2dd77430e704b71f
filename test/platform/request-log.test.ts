import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RequestEntry } from "../../src/platform/http/request-log.ts";
import { basic, enterprise, pro, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ usersPort: 0 });
});
afterAll(() => test.close());

async function entries(after = 0): Promise<readonly RequestEntry[]> {
  const { text } = await test.call("GET", `/_platform/requests?after=${after}`);
  return JSON.parse(text).requests;
}

async function last(): Promise<RequestEntry | undefined> {
  return (await entries()).at(-1);
}

describe("request log", () => {
  it("has method, path, operation, names of the query, status and time", async () => {
    await test.call("GET", `${pro}?subscriptionId=sub-1`);
    const entry = await last();
    expect(entry).toMatchObject({
      host: "platform",
      method: "GET",
      path: pro,
      operation: "list",
      query: ["subscriptionId"],
      status: 200,
    });
    expect(entry?.ms).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(entry)).not.toContain("sub-1");
  });

  it("shows exactly what an update sent, secrets redacted", async () => {
    const id = await test.create(enterprise);
    await test.until(`${enterprise}/${id}`, "RUNNING");
    await test.call("PUT", `${enterprise}/${id}`, {
      requestParams: { maxMemory: "2GB", graphdbPassword: "brand-new-one" },
    });
    const entry = (await entries()).findLast(({ operation }) => operation === "update");
    expect(entry?.body).toEqual({ requestParams: { maxMemory: "2GB", graphdbPassword: "[redacted]" } });
    expect(entry).not.toHaveProperty("notes");
  });

  it("counts requests after a point, and forgets on request", async () => {
    const from = (await last())?.seq ?? 0;
    await test.call("GET", pro);
    await test.call("GET", pro);
    expect(await entries(from)).toHaveLength(2);
    expect((await test.call("DELETE", "/_platform/requests")).status).toBe(204);
    expect(await entries()).toHaveLength(0);
  });

  it("has status 0 and the fault for a connection that was cut", async () => {
    await test.call("PUT", "/_platform/faults", [
      { operation: "list", count: 1, fault: { reset: "before" } },
    ]);
    await expect(test.call("GET", pro)).rejects.toThrow();
    expect(await last()).toMatchObject({ operation: "list", status: 0, fault: ["reset"] });
  });

  it.each([
    ["a password in the query", () => test.call("GET", `${pro}?password=hello`), /query password/],
    [
      "a known password under another name",
      () => test.call("GET", `${pro}?q=x${encodeURIComponent("misplaced-pw")}`),
      /query q/,
    ],
    ["a known password in the path", () => test.call("GET", `${pro}/misplaced-pw`), /secret is in the path/],
    [
      "a session token in the path",
      () => test.call("GET", `${pro}/${test.token()}`),
      /secret is in the path/,
    ],
    [
      "the password as a description",
      () =>
        test.call("POST", pro, {
          cloud_provider: "aws",
          region: "us-east-1",
          requestParams: { description: "it is misplaced-pw" },
        }),
      /body at requestParams.description/,
    ],
    [
      "Basic credentials beside sign-in",
      () => test.bare("GET", pro, undefined, basic(test.username, test.password)),
      /basic credentials/,
    ],
  ])("notes %s, and does not write it down", async (_why, send, note) => {
    await test.create(pro, { graphdbPassword: "misplaced-pw" });
    await send();
    expect((await last())?.notes).toEqual([expect.stringMatching(note)]);
  });

  it("notes a session cookie on the users host", async () => {
    const url = `${test.platform.usersUrl}/v1/customer-ldap/instances/x/users?subscriptionId=s`;
    await fetch(url, { headers: { cookie: `svc_token=${test.token()}` } });
    expect(await last()).toMatchObject({
      host: "users",
      status: 401,
      notes: [expect.stringMatching(/session cookie/)],
    });
  });

  it("lies on disk as a line of JSON each, without any secret", async () => {
    const text = await readFile(join(test.dataDir, "requests.jsonl"), "utf8");
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
    for (const secret of [test.password, test.token(), "misplaced-pw", "brand-new-one"])
      expect(text).not.toContain(secret);
  });
});

describe("hostile input", () => {
  it("refuses a body above 1 MiB, announced or not", async () => {
    const big = "x".repeat(1024 * 1024 + 1);
    const announced = await test.call("POST", pro, { requestParams: { name: big } });
    expect([announced.status, announced.body["message"]]).toEqual([413, "the body is larger than 1 MiB"]);
    const chunks = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 40; index += 1) controller.enqueue(new Uint8Array(64 * 1024));
        controller.close();
      },
    });
    const streamed = await fetch(new URL(pro, test.platform.url), {
      method: "POST",
      headers: { "content-type": "application/json", cookie: `svc_token=${test.token()}` },
      body: chunks,
      duplex: "half",
    }).then(
      (response) => response.status,
      () => "cut",
    );
    expect([413, "cut"]).toContain(streamed);
    expect((await test.call("GET", pro)).status).toBe(200);
  });

  it.each([
    ["nonsense", "{", "application/json", 400],
    ["another media type", "a=b", "application/x-www-form-urlencoded", 415],
    ["a bare word", '"x"', "application/json", 400],
  ])("%s as a body", async (_why, body, type, status) => {
    const response = await fetch(new URL(pro, test.platform.url), {
      method: "POST",
      headers: { "content-type": type, cookie: `svc_token=${test.token()}` },
      body,
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      status,
      "application/vnd.goa.error",
    ]);
  });

  it("answers unknown paths in the error shape", async () => {
    const answer = await test.call("GET", "/2022-09-01-00/nothing");
    expect([answer.status, answer.body["name"]]).toEqual([404, "not_found"]);
    const malformed = await test.call("GET", `${pro}/%E0%A4%A`);
    expect([400, 404]).toContain(malformed.status);
  });
});
