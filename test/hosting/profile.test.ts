import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { operations } from "../../src/hosting/operations.ts";
import { builtInProfiles, loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { profileFolder, readProfile } from "../../src/hosting/profile/profile-file.ts";
import { profileSchema } from "../../src/hosting/profile/profile-schema.ts";
import { validateProfile } from "../../src/hosting/profile/profile-validator.generated.js";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { growth } from "../support/work.ts";
import { failure } from "./service-of.ts";

/** A profile file in a folder of its own. */
function written(text: string, name = "own.yaml", folder: string = newFolder()): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function newFolder(): string {
  const folder = temporaryFolder("profile");
  return folder;
}

const profile = await loadProfile("default");
const cloud = await loadProfile("falkordb-cloud");

describe("built-in profiles", () => {
  it.each(builtInProfiles)("%s: what was built is what the file says, and valid", async (name) => {
    const fresh = await readProfile(join(profileFolder(), `${name}.yaml`), validateProfile);
    expect(await loadProfile(name)).toEqual(fresh);
  });

  it("have a published schema that is fresh", () => {
    const file = join(profileFolder(), "../schemas/profile.schema.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(profileSchema);
  });

  it("load with a hundredth of the work of reading their files", async () => {
    const read = (): unknown => readProfile(join(profileFolder(), "default.yaml"), validateProfile);
    const load = (): unknown => loadProfile("default");
    expect(await growth((work) => work(), read, load)).toBeLessThan(0.01);
  });

  it("are new copies each time", async () => {
    expect(await loadProfile("default")).not.toBe(profile);
  });
});

describe("the default profile", () => {
  const component =
    "/2022-09-01-00/resource-instance/{provider}/{service}/v1/prod/{serviceModelKey}/{productTierKey}/{resourceKey}";
  const users = "/v1/customer-ldap/instances/{instanceId}/users";

  it.each([
    ["instance.create", "POST", component],
    ["instance.list", "GET", component],
    ["instance.describe", "GET", `${component}/{id}`],
    ["instance.update", "PUT", `${component}/{id}`],
    ["instance.delete", "DELETE", `${component}/{id}`],
    ["instance.start", "POST", `${component}/{id}/start`],
    ["instance.stop", "POST", `${component}/{id}/stop`],
    ["instance.restart", "POST", `${component}/{id}/restart`],
    ["instance.failover", "POST", `${component}/{id}/failover`],
    ["instance.backup", "POST", `${component}/{id}/backup`],
    ["instance.copy-snapshot", "POST", `${component}/{id}/copy-snapshot`],
    ["account.create", "POST", component],
    ["account.describe", "GET", "/2022-09-01-00/accountconfig/{id}"],
    ["plans.list", "GET", "/2022-09-01-00/service-offering"],
    ["network.describe", "GET", "/2022-09-01-00/resource-instance/custom-network/{id}"],
    ["network.update", "PATCH", "/2022-09-01-00/resource-instance/custom-network/{id}"],
    ["snapshot.list", "GET", "/2022-09-01-00/resource-instance/snapshot"],
    ["snapshot.copy", "POST", "/2022-09-01-00/resource-instance/snapshot/{id}"],
    ["snapshot.restore", "POST", "/2022-09-01-00/resource-instance/snapshot/{id}/restore"],
    ["user.list", "GET", users],
    ["user.create", "POST", users],
    ["user.update", "PUT", `${users}/{username}`],
    ["user.delete", "DELETE", `${users}/{username}`],
  ])("%s is %s %s", (operation, method, path) => {
    expect(profile.operations[operation]).toMatchObject({
      method,
      path,
      host: path.startsWith("/v1") ? "users" : "platform",
    });
  });

  it("signs in and refreshes as sections 4.1 and 5 say", () => {
    expect(profile.signIn).toMatchObject({
      method: "POST",
      path: "/2022-09-01-00/resource-instance/user/signin",
      query: {},
      body: {},
    });
    expect(profile.refresh).toMatchObject({ method: "POST", path: "/2022-09-01-00/refresh-token" });
    expect(profile.session).toMatchObject({
      send: "cookie",
      tokenCookie: "svc_token",
      refreshCookie: "svc_refresh_token",
      tokenLifetime: 3_600_000,
      refreshLifetime: 86_400_000,
    });
  });

  it("can only describe and rename networks (4.6, 4.8)", () => {
    const networks = Object.keys(profile.operations).filter((name) => name.startsWith("network."));
    expect(networks.sort()).toEqual(["network.describe", "network.update"]);
  });

  it("has the tiers, instance types, commands and statuses of the service", () => {
    const keys = Object.entries(profile.tiers).map(
      ([tier, { serviceModelKey, productTierKey, components }]) => [
        tier,
        `${serviceModelKey}/${productTierKey}`,
        Object.keys(components).join(),
      ],
    );
    expect(keys).toEqual([
      ["enterprise-byoa", "byoa/enterprise-byoa", "standalone,single-zone,multi-zone"],
      ["enterprise", "hosted/enterprise", "standalone,single-zone,multi-zone"],
      ["pro", "hosted/pro", "standalone,single-zone,multi-zone"],
      ["startup", "hosted/startup", "standalone"],
      ["free", "hosted/free", "free"],
    ]);
    expect(new Set(profile.users.commands).size).toBe(52);
    expect(Object.keys(profile.instanceTypes["aws"] ?? {})).toHaveLength(14);
    expect(Object.keys(profile.instanceTypes["gcp"] ?? {})).toHaveLength(11);
    expect(profile.statuses).toMatchObject({
      RUNNING: "ready",
      STOPPED: "stopped",
      FAILED: "failed",
      DELETED: "gone",
      DELETING: "deleting",
    });
  });
});

describe("the profile of the real service", () => {
  it.each([
    ["instance.update", { method: "PATCH" }],
    [
      "instance.failover",
      { body: { failedReplicaId: "failedReplicaID", failedReplicaAction: "failedReplicaAction" } },
    ],
    [
      "instance.list-all",
      { method: "GET", path: "/2022-09-01-00/resource-instance", answer: { items: ["resourceInstances"] } },
    ],
    ["network.create", { method: "POST", path: "/2022-09-01-00/resource-instance/custom-network" }],
    ["network.list", { method: "GET", answer: { items: ["customNetworks"] } }],
    ["network.delete", { method: "DELETE" }],
  ])("%s differs: %j", (operation, expected) => {
    expect(cloud.operations[operation]).toMatchObject(expected);
  });

  it("has the vendor's hosts, keys, cookies and words", () => {
    expect(cloud).toMatchObject({
      name: "falkordb-cloud",
      platformUrl: "https://api.omnistrate.cloud",
      usersUrl: "https://api.falkordb.cloud",
      keys: { provider: "sp-JvkxkPhinN", service: "falkordb" },
      session: { send: "bearer", tokenCookie: "omnistrate_token", refreshCookie: "omnistrate_refresh_token" },
      fields: { graphdbPassword: "falkordbPassword", graphDBTimeoutMax: "falkorDBTimeoutMax" },
      timing: { settle: 60_000 },
    });
    expect(Object.keys(cloud.fields).sort()).toEqual(
      [
        "graphdbUser",
        "graphdbPassword",
        ...[
          "CacheSize",
          "MaxQueuedQueries",
          "NodeCreationBuffer",
          "QueryMemCapacity",
          "ResultSetSize",
          "TimeoutDefault",
          "TimeoutMax",
        ].map((name) => `graphDB${name}`),
      ].sort(),
    );
    expect(cloud.tiers["enterprise"]?.components["cluster-multi-zone"]).toBe("cluster-Multi-Zone");
  });

  it("keeps everything else of the default profile", () => {
    expect(cloud.operations["snapshot.copy"]).toEqual(profile.operations["snapshot.copy"]);
    expect(cloud.users).toEqual(profile.users);
    expect(cloud.instanceTypes).toEqual(profile.instanceTypes);
  });
});

describe("a profile file", () => {
  it("lays its own over what it extends: maps deeply, lists as a whole, null takes away", async () => {
    const own = await loadProfile(
      written(
        [
          "name: mine",
          "extends: default",
          "session: { tokenCookie: tok }",
          "networkTypes: [PRIVATE]",
          "refresh: null",
          "operations:",
          "  instance.backup: null",
          "  instance.stop: POST /halt/{id}",
          "  instance.describe: { answer: { status: state } }",
          "timing: { settle: 1m }",
          "statuses: { up: ready, RUNNING: null }",
        ].join("\n"),
      ),
    );
    expect(own.session).toEqual({ ...profile.session, tokenCookie: "tok" });
    expect(own.networkTypes).toEqual(["PRIVATE"]);
    expect(own).not.toHaveProperty("refresh");
    expect(own.operations).not.toHaveProperty(["instance.backup"]);
    expect(own.operations["instance.stop"]).toEqual({
      ...profile.operations["instance.stop"],
      path: "/halt/{id}",
    });
    expect(own.operations["instance.describe"]?.answer).toEqual({
      ...profile.operations["instance.describe"]?.answer,
      status: ["state"],
    });
    expect(own.timing).toEqual({ ...profile.timing, settle: 60_000 });
    expect([own.statuses["UP"], own.statuses["RUNNING"]]).toEqual(["ready", undefined]);
  });

  it("may extend another file, found from where it stands", async () => {
    const folder = newFolder();
    written("name: base\nextends: falkordb-cloud\nkeys: { provider: p }\n", "base.yaml", folder);
    const own = await loadProfile(written("name: own\nextends: ./base.yaml\n", "own.yaml", folder));
    expect(own).toMatchObject({ name: "own", keys: { provider: "p", service: "falkordb" } });
  });

  it.each<[string, readonly string[], string, string]>([
    ["an unknown key", ["name: own", "extends: default", "tming: {}"], "3:8", "tming is unknown"],
    [
      "an operation nobody knows",
      ["name: own", "extends: default", "operations:", "  instance.updat: PUT /x"],
      "4:19",
      "instance.updat",
    ],
    [
      "a wrong type",
      ["name: own", "extends: default", "timing:", "  settle: 5"],
      "4:11",
      "timing.settle is not a string",
    ],
    [
      "a duration that is none",
      ["name: own", "extends: default", "timing:", "  settle: soon"],
      "4:11",
      "timing.settle does not match",
    ],
    [
      "a phase that is none",
      ["name: own", "extends: default", "statuses:", "  UP: good"],
      "4:7",
      "ready, stopped",
    ],
    [
      "a request that is none",
      ["name: own", "extends: default", "operations:", "  instance.stop: halt"],
      "4:18",
      "instance.stop",
    ],
    [
      "an unknown prefix",
      ["name: own", "extends: default", "operations:", "  instance.stop: POST <nowhere>/x"],
      "4:18",
      'no prefix "nowhere"',
    ],
    [
      "an unknown parameter",
      ["name: own", "extends: default", "operations:", "  instance.stop: POST /x/{instance}"],
      "4:18",
      "{instance}",
    ],
    [
      "no regular expression",
      ["name: own", "extends: default", "session:", '  missingToken: "("'],
      "4:17",
      "regular expression",
    ],
    [
      "a tier nobody knows",
      ["name: own", "extends: default", "tiers:", "  gold: {}"],
      "4:9",
      "tiers.gold is unknown",
    ],
    [
      "a tier without its keys",
      ["name: own", "extends: default", "tiers:", "  pro: { serviceModelKey: null }"],
      "4:27",
      "tiers.pro.serviceModelKey is missing",
    ],
    [
      "an operation that is needed",
      ["name: own", "extends: default", "operations:", "  instance.list: null"],
      "4:18",
      'operations["instance.list"] is missing',
    ],
    [
      "a URL with a password",
      ["name: own", "extends: default", "platformUrl: https://a:b@x.example.com"],
      "3:14",
      "platformUrl does not match",
    ],
    ["no map", ["- a"], "1:1", "a map of keys and values"],
    ["nothing", [""], "1:1", "a map of keys and values"],
    ["no YAML", ["name: own", "a: [b"], "2:", ""],
    ["a key twice", ["name: own", "name: other"], "2:1", "unique"],
    [
      "an alias bomb",
      [
        "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]",
        "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]",
        "c: &c [*b, *b, *b, *b, *b, *b, *b, *b]",
        "d: [*c, *c, *c]",
      ],
      "1:1",
      "",
    ],
    ["no name, no base", ["keys: {}"], "1:1", "name is missing"],
    ["itself as its base", ["name: own", "extends: ./own.yaml"], "2:10", "without end"],
  ])("with %s is refused at its line", async (_, lines, position, message) => {
    const path = written(lines.join("\n"));
    const error = await failure(loadProfile(path));
    expect(error).toMatchObject({ code: "profile-invalid", exitCode: 3 });
    const said = error instanceof Error ? error.message : "";
    expect(said.startsWith(`${path}:${position}`), said).toBe(true);
    expect(said).toContain(message);
    expect(said).not.toContain("\n");
  });

  it.each(["nowhere.yaml", "./", "falkordb"])(
    "that is not there names the ones that are: %s",
    async (name) => {
      const error = await failure(loadProfile(name));
      expect(error).toMatchObject({
        code: "profile-unreadable",
        exitCode: 3,
        hint: expect.stringContaining("falkordb-cloud"),
      });
    },
  );

  it("knows every operation that the built-in ones use", () => {
    const used = [...Object.keys(profile.operations), ...Object.keys(cloud.operations)];
    expect(used.filter((name) => !operations.has(name))).toEqual([]);
  });
});
