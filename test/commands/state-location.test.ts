import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { httpCredentials } from "../../src/model/stores/http.ts";
import { type StateLocation, stores } from "../../src/model/stores/index.ts";
import { addressOf, locateState, locationAt, placeOf, sectionOf } from "../../src/project/locate-state.ts";
import { openStore, stateLease } from "../../src/project/open-store.ts";
import { settingsOf } from "../../src/project/settings.ts";
import { postgresValues } from "../../src/state/remote/postgres/postgres-driver.ts";

const of = (state: JsonObject, env = {}, given?: string): StateLocation =>
  locateState({ name: "shop", state }, "folder", given, settingsOf(env));

describe("the location of a state", () => {
  it.each<[string, JsonObject, StateLocation]>([
    [
      "nothing",
      {},
      { type: "file", path: "folder/.graphform/shop.state.json", elsewhere: [".graphform/shop.state.json"] },
    ],
    ["a path", { path: "/kept.json" }, { type: "file", path: "/kept.json" }],
    [
      "a backend",
      { backend: "file", path: "kept.json" },
      { type: "file", path: "kept.json", elsewhere: ["folder/kept.json"] },
    ],
    ["a bucket", { type: "s3", bucket: "states" }, { type: "s3", bucket: "states", key: "shop.state.json" }],
    [
      "a database",
      { backend: "postgres", host: "db", port: 5433, sslmode: "require" },
      { type: "postgres", name: "shop", host: "db", port: 5433, sslmode: "require" },
    ],
    [
      "an address",
      { type: "http", address: "https://x/y", lockMethod: "POST", dialect: "gitlab" },
      { type: "http", address: "https://x/y", lockMethod: "POST", dialect: "gitlab" },
    ],
  ])("is what the manifest says: %s", (_, state, location) => {
    expect(of(state)).toEqual(location);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["a region", { type: "s3", bucket: "b" }, { type: "s3", bucket: "b", region: "us-east-1" }],
    [
      "the end of an endpoint, and how the bucket is named",
      { type: "s3", bucket: "b", endpoint: "https://s3.example.com" },
      { type: "s3", bucket: "b", endpoint: "https://S3.example.com:443/", pathStyle: true },
    ],
    [
      "defaults of PostgreSQL, and the case of a host",
      { type: "postgres", host: "db.example.com", database: "states" },
      { type: "postgres", host: "DB.example.com", port: 5432, database: "states", schema: "graphform" },
    ],
    [
      "a port, and the case of a host",
      { type: "http", address: "https://x.example.com/Y" },
      { type: "http", address: "https://X.example.com:443/Y", lockAddress: "https://x.example.com/lock" },
    ],
  ])("is one place, whatever it says of %s", async (_, one, other) => {
    expect(await placeOf(of(one))).toBe(await placeOf(of(other)));
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      "endpoint",
      { type: "s3", bucket: "b" },
      { type: "s3", bucket: "b", endpoint: "https://s3.example.com" },
    ],
    ["port", { type: "postgres", host: "db" }, { type: "postgres", host: "db", port: 6432 }],
    ["schema", { type: "postgres" }, { type: "postgres", schema: "other" }],
    ["path", { type: "http", address: "https://x/Y" }, { type: "http", address: "https://x/y" }],
  ])("is another place at another %s", async (_, one, other) => {
    expect(await placeOf(of(one))).not.toBe(await placeOf(of(other)));
  });

  it("is as the manifest describes it where --state names that very HTTP address: a URL does not say how it is locked", () => {
    const section = { type: "http", address: "https://x/y", lockAddress: "https://x/lock" };
    expect(of(section, {}, "https://x/y")).toEqual(section);
    expect(of(section, { GRAPHFORM_STATE: "https://x/y" })).toEqual(section);
    expect(of(section, {}, "https://x/z")).toEqual({ type: "http", address: "https://x/z" });
  });

  it("is that of --state, then of the environment, then of the manifest", () => {
    const [manifest, env] = [{ type: "s3", bucket: "b" }, { GRAPHFORM_STATE: "env.json" }];
    expect(addressOf(of(manifest, env, "given.json"))).toBe("given.json");
    expect(addressOf(of(manifest, env))).toBe("env.json");
    expect(addressOf(of(manifest, { GRAPHFORM_STATE: "" }))).toBe("s3://b/shop.state.json");
  });

  it.each([
    "kept/here.json",
    "https://gitlab.example.com/api/v4/projects/7/terraform/state/shop",
    "s3://states/a%20b/shop.json?region=eu-west-1&pathStyle=true",
    "postgres://db.example.com:5433/states?name=shop&schema=ours&sslmode=require",
    "postgres://[::1]/states?name=shop",
    "postgres:///?name=shop",
    "postgres://%2Frun%2Fpostgresql/states?name=shop",
    "s3://states/shop.json?endpoint=https://s3.example.com:9000",
  ])("is written as it is read: %s", (address) => {
    expect(addressOf(locationAt(address, "other"))).toBe(address);
  });

  it.each([
    ...[
      "./s3:/x",
      "../x",
      "./postgres",
      "x.json",
      "a/b c/x.state.json",
      ".graphform/x.json",
      "größe/x.json",
      "/a/b",
    ],
    "C:\\states\\x.json",
  ])("is a path: %s", (path) => {
    expect(locationAt(path, "shop")).toEqual({ type: "file", path });
  });

  it("becomes a section of the manifest", () => {
    expect(sectionOf(locationAt("s3://states/shop.json?pathStyle=true", "shop"))).toBe(
      'state:\n  type: s3\n  bucket: "states"\n  key: "shop.json"\n  pathStyle: true\n',
    );
  });

  it.each([
    ["s3://AKIA:hunter2222@states/shop.json", "state-credentials"],
    ["postgres://bob:hunter2222@db/states", "state-credentials"],
    ["https://x/y?private_token=hunter2222", "state-credentials"],
    ["s3://states/shop.json?regionn=x", "state-address"],
    ["postgres://db/states?sslmode=perhaps", "state-address"],
    ["ftp://x/y", "state-address"],
    ["s3:/company-states/shop.json", "state-address"],
    ["s3:bucket", "state-address"],
    ["postgres:/db/states", "state-address"],
    ["postgresql:h/d", "state-address"],
    ["postgres//h/d", "state-address"],
    ["https:/gitlab.example.com/x", "state-address"],
    ["https:h/x", "state-address"],
    ["file://tmp/x", "state-address"],
    ["file:x.json", "state-address"],
    ["~/x", "state-address"],
    ...[
      "postgres",
      "s3",
      "http",
      "gitlab.example.com/api/v4/projects/7/terraform/state/x.json",
      "host=h.json",
    ].map((word) => [word, "state-address"]),
    ...["$HOME/x.json", "%HOME%/x.json", "${STATE}", "-", " ", ":x", "sub/", "a//b.json"].map((word) => [
      word,
      "state-address",
    ]),
    ["s3://Bad_Bucket!/k", "state-address"],
    ["s3://states/x.lock", "state-address"],
    ["s3://states/a/../../x//y", "state-address"],
    ["s3://states/%zz", "state-address"],
    ["s3://states/k?region=eu%20west", "state-address"],
    ["s3://states/k?endpoint=http://s3.example.com", "state-address"],
    ["s3://states/k?endpoint=https://s3.example.com%3Fa=b", "state-address"],
    ["http://x.example.com/y", "state-address"],
    ["postgres://db/states?schema=pg_catalog", "state-address"],
    ["postgres://db/states?sslrootcert=a.pem", "state-address"],
    ["https://u:hunter2222/t-tail@h.invalid/x", "state-credentials"],
    ["https://u:hunter2222#t-tail@h.invalid/x", "state-credentials"],
  ])("refuses %s", (address, code) => {
    let thrown: unknown;
    try {
      locationAt(address, "shop");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code, hint: expect.any(String) });
    expect(String(thrown)).not.toContain("hunter2222");
  });
});

describe("the lease of a state's lock", () => {
  const lease = (text: string): number | undefined => stateLease(settingsOf({ GRAPHFORM_STATE_LEASE: text }));

  it("is a duration from one second to a day", () => {
    expect([lease("1s"), lease("60s"), lease("24h"), lease("")]).toEqual([
      1000,
      60_000,
      86_400_000,
      undefined,
    ]);
  });

  it.each(["0s", "abc", "500ms", "25h", "99999999d", "1e9s"])("is refused: %s", (text) => {
    expect(() => lease(text)).toThrow("GRAPHFORM_STATE_LEASE is");
  });

  it.each(["prepare", "probe"] as const)("is read before anything is tried: %s", async (call) => {
    const settings = settingsOf({ GRAPHFORM_STATE_LEASE: "99999999d" });
    const store = openStore({ type: "file", path: "nowhere.json" }, settings, {
      header: { name: "shop", state: {} },
      folder: ".",
    });
    await expect(store[call]()).rejects.toMatchObject({ code: "state-lease" });
  });
});

describe("the credentials of a state", () => {
  const http = {
    type: "http",
    address: "https://gitlab.example.com/api/v4/projects/7/terraform/state/shop",
  } as const;
  const job = { CI_JOB_TOKEN: "job-token", CI_API_V4_URL: "https://gitlab.example.com/api/v4" };

  it("of a job on GitLab go to that GitLab and nowhere else, and what is set goes before them", () => {
    const at = (address: string, env: { readonly [name: string]: string }, lock = {}): unknown =>
      httpCredentials({ address, ...lock }, settingsOf(env).variable).value;
    expect(at(http.address, job)).toEqual({ username: "gitlab-ci-token", password: "job-token" });
    expect(at("https://gitlab.example.com.evil.example/api/v4/x", job)).toBeUndefined();
    expect(at("http://gitlab.example.com/api/v4/x", job)).toBeUndefined();
    expect(at(http.address, job, { lockAddress: "https://evil.example/lock" })).toBeUndefined();
    expect(at(http.address, job, { unlockAddress: "https://evil.example/lock" })).toBeUndefined();
    expect(at(http.address, { ...job, GRAPHFORM_STATE_TOKEN: "mine" })).toEqual({ token: "mine" });
  });

  it("that are set by half are refused", () => {
    expect(() => httpCredentials(http, settingsOf({ GRAPHFORM_STATE_USERNAME: "bob" }).variable)).toThrow(
      "GRAPHFORM_STATE_PASSWORD is not set",
    );
  });

  it("of the location that a state is moved to are others", () => {
    const { variable } = settingsOf({
      ...{ GRAPHFORM_STATE_TOKEN: "old", GRAPHFORM_STATE_TO_TOKEN: "new" },
      ...{
        GRAPHFORM_STATE_POSTGRES_URL: "postgres://old/x",
        GRAPHFORM_STATE_TO_POSTGRES_URL: "postgres://new/x",
      },
    });
    expect(httpCredentials(http, variable, true).value).toEqual({ token: "new" });
    expect(postgresValues(variable)).toEqual({ GRAPHFORM_STATE_POSTGRES_URL: "postgres://old/x" });
    expect(postgresValues(variable, true)).toEqual({ GRAPHFORM_STATE_POSTGRES_URL: "postgres://new/x" });
  });

  it("are named by their source, and never shown", () => {
    const { variable } = settingsOf({ ...job, AWS_ACCESS_KEY_ID: "AKIA", PGPASSWORD: "hunter2222" });
    const sources = [
      stores.http.source(http, variable),
      stores.s3.source({ type: "s3", bucket: "b", key: "k" }, variable),
      stores.postgres.source({ type: "postgres", name: "shop" }, variable),
    ];
    expect(sources).toEqual(["CI_JOB_TOKEN", "AWS_ACCESS_KEY_ID", "PGPASSWORD"]);
  });
});
