import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { serviceError } from "../../src/hosting/wire/service-error.ts";
import type { ServiceError } from "../../src/model/errors.ts";
import { type Hide, knownSecrets } from "../../src/model/known-secrets.ts";

const profile = await loadProfile("default");
const now = Date.UTC(2026, 0, 1);

/** Hides one secret. */
function hiding(secret: string): Hide {
  const secrets = knownSecrets();
  secrets.add([secret]);
  return secrets.hide;
}

function errorOf(
  status: number,
  body: unknown,
  more: { headers?: { [name: string]: string }; isWrite?: boolean; hide?: Hide } = {},
): ServiceError {
  const { headers = {}, isWrite = false, hide } = more;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return serviceError(
    { status, headers, body: text },
    { operation: "thing.do", isWrite },
    profile,
    now,
    hide,
  );
}

const goa = (message: string): object => ({
  name: "n",
  id: "i",
  message,
  temporary: false,
  timeout: false,
  fault: false,
});

describe("the class of a refusal", () => {
  it.each([
    [400, "invalid", "invalid"],
    [401, "unauthorized", "unauthorized"],
    [402, "invalid", "invalid"],
    [403, "forbidden", "forbidden"],
    [404, "not-found", "not-found"],
    [405, "invalid", "invalid"],
    [408, "unavailable", "lost"],
    [409, "conflict", "conflict"],
    [410, "not-found", "not-found"],
    [413, "invalid", "invalid"],
    [415, "invalid", "invalid"],
    [422, "invalid", "invalid"],
    [429, "rate-limited", "rate-limited"],
    [500, "unavailable", "lost"],
    [502, "unavailable", "lost"],
    [503, "unavailable", "lost"],
    [504, "unavailable", "lost"],
    [301, "shape", "shape"],
    [304, "shape", "shape"],
  ])("%i is %s for a read, %s for a write", (status, read, write) => {
    const reading = errorOf(status, goa("because"));
    const writing = errorOf(status, goa("because"), { isWrite: true });
    expect([reading.failure, reading.mayHaveWorked]).toEqual([read, false]);
    expect([writing.failure, writing.mayHaveWorked]).toEqual([write, write === "lost" || write === "shape"]);
    expect(writing).toMatchObject({ status, operation: "thing.do", code: `service-${write}`, exitCode: 1 });
  });

  it.each([409, 400, 500])("an operation in progress is busy, by its text: %i", (status) => {
    const error = errorOf(status, goa("Some OPERATION is already in progress on i-1"), { isWrite: true });
    expect([error.failure, error.mayHaveWorked]).toEqual(["busy", false]);
  });

  it.each([
    [400, "token is missing from header or cookie", "unauthorized"],
    [400, "Missing token", "unauthorized"],
    [400, "the acl is wrong", "invalid"],
    [409, "token is missing", "conflict"],
  ])("%i %j is %s", (status, message, failure) => {
    expect(errorOf(status, goa(message)).failure).toBe(failure);
  });

  it.each([{ temporary: true }, { timeout: true }])(
    "a read can be repeated where the body says so: %j",
    (flag) => {
      expect(errorOf(400, { ...goa("later"), ...flag }).failure).toBe("unavailable");
      expect(errorOf(400, { ...goa("later"), ...flag }, { isWrite: true }).failure).toBe("invalid");
    },
  );
});

describe("the message of a refusal", () => {
  it.each<[string, unknown, string]>([
    ["section 7", goa("no such region"), "thing.do: no such region (400)"],
    ["the users host", { statusCode: 400, error: "Bad Request", message: "acl" }, "thing.do: acl (400)"],
    ["without a message", { error: "Bad Request" }, "thing.do: Bad Request (400)"],
    ["a name alone", { name: "bad_request" }, "thing.do: bad_request (400)"],
    ["a message that is no text", { message: { a: 1 }, name: "bad" }, "thing.do: bad (400)"],
    ["HTML", "<html><b>no</b>", "thing.do: the service refused and does not say why (400)"],
    ["nothing", "", "thing.do: the service refused and does not say why (400)"],
    ["null", "null", "thing.do: the service refused and does not say why (400)"],
    ["a list", "[1]", "thing.do: the service refused and does not say why (400)"],
    [
      "a shape of its own",
      { oops: { code: "E-7", text: "come back later" } },
      "thing.do: come back later (400)",
    ],
    ["a list of reasons", { reasons: ["no", "no such region"] }, "thing.do: no such region (400)"],
    ["__proto__, which is a key as any other", '{"__proto__":{"message":"x"}}', "thing.do: x (400)"],
  ])("%s", (_, body, message) => {
    expect(errorOf(400, body).message).toBe(message);
  });

  it("holds nothing that steers a terminal", () => {
    const { message } = errorOf(400, goa("a\u001b[31mred\u0007 \u202eright\u2028line\r\nnext\ud800"));
    expect(message).toBe(
      "thing.do: a\\u{1b}[31mred\\u{7} \\u{202e}right\\u{2028}line\\u{d}\\u{a}next\\u{d800} (400)",
    );
  });

  it("is cut where it is long", () => {
    expect(errorOf(400, goa("x".repeat(5000))).message.length).toBeLessThan(600);
  });

  it("is searched for secrets before it is cut", () => {
    const secret = "0123456789".repeat(3);
    expect(errorOf(400, goa(`${"x".repeat(490)}${secret}`), { hide: hiding(secret) }).message).not.toContain(
      "0123",
    );
  });

  it("is searched for secrets after it was classified", () => {
    expect(errorOf(400, goa(`${profile.busy}!`), { hide: hiding(profile.busy) })).toMatchObject({
      failure: "busy",
      message: "thing.do: (sensitive)! (400)",
    });
  });
});

describe("a path that the service does not have", () => {
  it.each([
    ["instance.list", /another service than the profile default describes/],
    ["plans.list", /another service/],
    ["instance.describe", undefined],
    ["user.delete", undefined],
  ])("%s", (operation, hint) => {
    const response = { status: 404, headers: {}, body: "" };
    const error = serviceError(response, { operation, isWrite: false }, profile, now);
    if (hint === undefined) expect(error.hint).toBeUndefined();
    else expect(error.hint).toMatch(hint);
  });
});

describe("Retry-After", () => {
  it.each([
    ["3", 3000],
    ["0", 0],
    ["0.5", 500],
    [new Date(now + 5000).toUTCString(), 5000],
    [new Date(now - 5000).toUTCString(), 0],
    ["999999999", 600_000],
    ["soon", undefined],
    ["-3", undefined],
    ["", undefined],
  ])("%j is %s ms", (header, ms) => {
    const { retryAfter } = errorOf(429, goa("slow down"), { headers: { "retry-after": header } });
    expect(retryAfter).toBe(ms);
  });
});
