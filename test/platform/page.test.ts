import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pro, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterAll(() => test.close());

const get = (path: string, cookie = "") =>
  fetch(new URL(path, test.platform.url), { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
const login = (fields: { readonly [name: string]: string }) =>
  fetch(new URL("/_platform/page-session", test.platform.url), {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(fields),
  });
const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";

describe("the page at /", () => {
  it("shows a stranger a form and nothing of the instances, even on loopback", async () => {
    const id = await test.create(pro, { name: "hidden-name" });
    const response = await get("/");
    const html = await response.text();
    expect(html).toContain("<form");
    for (const secret of [id, "hidden-name", test.password, "EventSource"])
      expect(html).not.toContain(secret);
    expect((await get("/_platform/stream")).status).toBe(401);
    expect((await get("/_platform/status")).status).toBe(400);
  });

  it("loads nothing from elsewhere and forbids it", async () => {
    const response = await get("/");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(await response.text()).not.toMatch(/(src|href)="http/);
  });

  it("opens with a link that works once, and for a minute", async () => {
    let age = 0;
    const own = await startTest({ elapsed: () => age });
    try {
      const link = async (): Promise<string> =>
        String((await own.call("POST", "/_platform/page-links")).body["url"]);
      const used = await link();
      expect(new URL(used).origin).toBe(own.platform.url);
      const first = await get(used);
      expect([first.status, first.headers.get("location")]).toEqual([303, "/"]);
      expect(first.headers.getSetCookie()[0]).toMatch(/HttpOnly; SameSite=Lax/);
      const page = new URL("/", own.platform.url).href;
      expect(await (await get(page, cookieOf(first))).text()).toContain("EventSource");
      const second = await get(used);
      expect([second.status, second.headers.getSetCookie()]).toEqual([200, []]);
      expect(await second.text()).toContain("used already");
      const [inTime, late] = [await link(), await link()];
      age += 59_999;
      expect((await get(inTime)).status).toBe(303);
      age += 1;
      expect((await get(late)).status).toBe(200);
      expect((await own.bare("POST", "/_platform/page-links")).status).toBe(400);
      const key = new URL(used).searchParams.get("key") ?? "";
      expect(await readFile(join(own.dataDir, "requests.jsonl"), "utf8")).not.toContain(key);
    } finally {
      await own.close();
    }
  });

  it("has a cookie that opens nothing but the page, and none of a session opens it", async () => {
    const [name = "", token = ""] = cookieOf(
      await login({ username: test.username, password: test.password }),
    ).split("=");
    const ways = [
      { authorization: `Bearer ${token}` },
      { cookie: `svc_token=${token}` },
      { cookie: `${name}=${token}` },
    ];
    const closed = [
      ["GET", "/_platform/status"],
      ["GET", "/_platform/requests"],
      ["GET", "/_platform/faults"],
      ["PUT", "/_platform/faults"],
      ["DELETE", "/_platform/requests"],
      ["POST", "/_platform/page-links"],
      ["POST", "/_platform/networks"],
      ["GET", pro],
      ["POST", pro],
      ["GET", "/2022-09-01-00/user"],
      ["GET", "/v1/customer-ldap/instances/x/users?subscriptionId=s"],
    ] as const;
    for (const [method, path] of closed) {
      for (const headers of ways)
        expect([path, headers, (await test.bare(method, path, undefined, headers)).status]).toEqual([
          path,
          headers,
          expect.toSatisfy((status) => status === 400 || status === 401),
        ]);
    }
    for (const cookie of [`${name}=${test.token()}`, `svc_token=${test.token()}`]) {
      expect((await get("/_platform/stream", cookie)).status).toBe(401);
      expect(await (await get("/", cookie)).text()).not.toContain("EventSource");
    }
  });

  it("takes no more of a form than a form has", async () => {
    const { status } = await login({ username: "x".repeat(100_000), password: "" });
    expect(status).toBe(413);
  });

  it("opens with the credentials, and only with them", async () => {
    const wrong = await login({ username: test.username, password: "<b>wrong</b>" });
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []]);
    const right = await login({ username: test.username, password: test.password });
    expect(await (await get("/", cookieOf(right))).text()).toContain("EventSource");
  });

  it("streams the state as it changes, without parameters", async () => {
    const cookie = cookieOf(await login({ username: test.username, password: test.password }));
    const response = await get("/_platform/stream", cookie);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const id = await test.create(pro, { name: "<script>alert(1)</script>", graphdbPassword: "never-shown" });
    let text = "";
    while (!new RegExp(`"id":"${id}","name":"<script>alert\\(1\\)</script>","status":"RUNNING"`).test(text)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      expect(done).toBe(false);
      text += value ?? "";
    }
    await reader?.cancel();
    expect(text).not.toContain("never-shown");
  });

  it("puts what it is told into the page as text", async () => {
    const cookie = cookieOf(await login({ username: test.username, password: test.password }));
    const html = await (await get("/", cookie)).text();
    const [, script = ""] = /<script nonce="[^"]+">([\s\S]*)<\/script>/.exec(html) ?? [];
    const page = fakePage();
    runInNewContext(script, page.globals);
    const { body } = await test.call("GET", "/_platform/status");
    page.globals.EventSource.latest?.onmessage?.({ data: JSON.stringify(body) });
    expect(page.text("instances")).toContain("<script>alert(1)</script>");
    expect(page.text("instances")).toContain("pro / standalone");
    expect(page.text("events")).toContain("create done: RUNNING");
    expect(page.text("engine")).toContain("Engine: none");
    page.globals.EventSource.latest?.onerror?.();
    expect(page.text("live")).toContain("trying again");
    Object.assign(page.globals.EventSource.latest ?? {}, { readyState: 2 });
    page.globals.EventSource.latest?.onerror?.();
    expect(page.text("live")).toContain("graphform platform open");
  });
});

/** As much of a document as the script uses: elements that know only text and children. */
function fakePage() {
  class Element {
    textContent = "";
    hidden = false;
    className = "";
    children: Element[] = [];
    append(...more: Element[]): void {
      this.children.push(...more);
    }
    replaceChildren(...all: Element[]): void {
      this.children = all;
    }
    text(): string {
      return [this.textContent, ...this.children.map((child) => child.text())].join("|");
    }
  }
  class EventSource {
    static readonly CLOSED = 2;
    static latest: EventSource | undefined;
    readonly readyState: number = 0;
    onerror: (() => void) | undefined;
    onmessage: ((message: { data: string }) => void) | undefined;
    constructor() {
      EventSource.latest = this;
    }
  }
  const byId = new Map<string, Element>();
  const getElementById = (id: string): Element => {
    const known = byId.get(id) ?? new Element();
    byId.set(id, known);
    return known;
  };
  return {
    globals: { document: { getElementById, createElement: () => new Element() }, EventSource },
    text: (id: string) => byId.get(id)?.text() ?? "",
  };
}
