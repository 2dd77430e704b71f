import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { controllerSchema } from "../../../src/controller/config/config.ts";
import { openConfig, readConfig } from "../../../src/controller/config/read-config.ts";
import { GraphformError } from "../../../src/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const whole = `tenants:
  shop:
    service: { profile: falkordb-cloud, platformUrl: "https://api.example.com", usersUrl: "https://users.example.com", subscriptionId: sub-1 }
    credentials: { username: { env: SHOP_USERNAME }, password: { file: secrets/password } }
    secrets:
      envPrefix: SHOP_
      commands:
        vault: [vault, kv, get, "-field=password"]
        op: { run: [op, read], env: [OP_TOKEN] }
    auto: safe
    maxConcurrent: 8
  bank:
    service: { profile: ./bank.yaml }
  empty: {}
git:
  allow: ["https://git.example.com/*", "file:///srv/git/*"]
  credentials:
    - { url: "https://git.example.com/*", token: { command: { run: [vault, token], env: [VAULT_ADDR] } }, tenants: [shop] }
webhooks:
  ops: { url: "https://hooks.example.com/a", secret: { env: HOOK_SECRET }, tenants: [shop] }
hooks: { github: { env: GITHUB_HOOK } }
http: { trustProxy: ["10.0.0.0/8", "::1"], tls: { certificate: tls/chain.pem, key: /etc/tls/key.pem } }
`;

let folder = "";
let file = "";
beforeEach(() => {
  folder = temporaryFolder("config");
  file = join(folder, "controller.yaml");
});

async function refusalOf(text: string): Promise<GraphformError> {
  writeFileSync(file, text);
  return readConfig(file).then(
    () => new GraphformError("none", "nothing was refused"),
    (error: unknown) =>
      error instanceof GraphformError ? error : new GraphformError("foreign", String(error)),
  );
}

describe("the configuration", () => {
  it("is read with its defaults, and with its paths from its own folder", async () => {
    writeFileSync(file, whole);
    expect(await readConfig(file)).toEqual({
      tenants: {
        shop: {
          service: {
            profile: "falkordb-cloud",
            platformUrl: "https://api.example.com",
            usersUrl: "https://users.example.com",
            subscriptionId: "sub-1",
          },
          credentials: {
            username: { env: "SHOP_USERNAME" },
            password: { file: join(folder, "secrets/password") },
          },
          secrets: {
            envPrefix: "SHOP_",
            commands: {
              vault: { run: ["vault", "kv", "get", "-field=password"], env: [] },
              op: { run: ["op", "read"], env: ["OP_TOKEN"] },
            },
          },
          auto: "safe",
          maxConcurrent: 8,
        },
        bank: {
          service: { profile: join(folder, "bank.yaml") },
          secrets: { commands: {} },
          auto: "none",
          maxConcurrent: 4,
        },
        empty: { service: {}, secrets: { commands: {} }, auto: "none", maxConcurrent: 4 },
      },
      git: {
        allow: ["https://git.example.com/*", "file:///srv/git/*"],
        credentials: [
          {
            url: "https://git.example.com/*",
            username: "git",
            token: { command: ["vault", "token"], variables: ["VAULT_ADDR"] },
            tenants: ["shop"],
          },
        ],
      },
      webhooks: {
        ops: { url: "https://hooks.example.com/a", secret: { env: "HOOK_SECRET" }, tenants: ["shop"] },
      },
      hooks: { github: { env: "GITHUB_HOOK" } },
      http: {
        trustProxy: ["10.0.0.0/8", "::1"],
        tls: { certificate: join(folder, "tls/chain.pem"), key: "/etc/tls/key.pem" },
      },
    });
  });

  it("may be empty", async () => {
    writeFileSync(file, "# nothing yet\n");
    expect(await readConfig(file)).toMatchObject({ tenants: {}, git: { allow: [], credentials: [] } });
  });

  it.each([
    ["an unknown key", "tenants:\n  shop:\n    servce: {}\n", "3:5", "tenants.shop.servce is unknown"],
    [
      "a wrong type",
      "tenants:\n  shop:\n    maxConcurrent: many\n",
      "3:5",
      "tenants.shop.maxConcurrent is not an integer",
    ],
    [
      "a value out of bounds",
      "tenants:\n  shop: { maxConcurrent: 0 }\n",
      "2:11",
      "tenants.shop.maxConcurrent is below 1",
    ],
    [
      "a word that is not allowed",
      "tenants:\n  shop: { auto: all }\n",
      "2:11",
      "tenants.shop.auto is none of safe, none",
    ],
    ["a name with a slash", "tenants:\n  a/b: {}\n", "2:3", "does not match"],
    [
      "half a login",
      "tenants:\n  shop: { credentials: { username: { env: A } } }\n",
      "2:11",
      "credentials.password is missing",
    ],
    ["a secret of two sources", "hooks: { github: { env: A, file: b } }\n", "1:10", "hooks.github"],
    ["a secret in clear", 'hooks: { github: "s3cret" }\n', "1:10", "hooks.github is not an object"],
    ["a text in place of a map", "just text\n", "1:1", "the configuration is a map"],
    ["YAML that is none", "tenants: [\n", "2:1", ""],
    ["a key twice", "tenants: {}\ntenants: {}\n", "2:1", "Map keys must be unique"],
    [
      "a prefix that begins another",
      "tenants:\n  a: { secrets: { envPrefix: SHOP_ } }\n  b: { secrets: { envPrefix: SHOP_EU_ } }\n",
      "2:19",
      "SHOP_ begins SHOP_EU_",
    ],
    [
      "a prefix twice",
      "tenants:\n  a: { secrets: { envPrefix: SHOP_ } }\n  b: { secrets: { envPrefix: SHOP_ } }\n",
      "2:19",
      "one would read the other's secrets",
    ],
    [
      "a prefix of the controller's variables",
      "tenants:\n  a: { secrets: { envPrefix: GRAPHFORM_ } }\n",
      "2:19",
      "the controller's own variables",
    ],
    ["a prefix without an end", "tenants:\n  a: { secrets: { envPrefix: S } }\n", "2:19", "does not match"],
    ["SSH as a pattern", 'git: { allow: ["ssh://git@host/*"] }\n', "1:16", "holds a login"],
    ["a pattern with a star inside", 'git: { allow: ["https://a.*.com/*"] }\n', "1:16", "has a *"],
    [
      "a token that goes to another machine in clear",
      'git: { credentials: [{ url: "http://git.example.com/*", token: { env: T } }] }\n',
      "1:24",
      "its token would go in clear",
    ],
    [
      "a token for an unknown tenant",
      'tenants: { shop: {} }\ngit: { credentials: [{ url: "https://a.com/*", token: { env: T }, tenants: [shp] }] }\n',
      "2:77",
      'there is no tenant "shp"',
    ],
    [
      "a webhook for an unknown tenant",
      'webhooks: { ops: { url: "https://a.com", secret: { env: S }, tenants: [x] } }\n',
      "1:72",
      'there is no tenant "x"',
    ],
    [
      "a webhook with a login",
      'webhooks: { ops: { url: "https://a:b@a.com", secret: { env: S } } }\n',
      "1:20",
      "does not match",
    ],
    ["a proxy that is no address", "http: { trustProxy: [proxy.example.com] }\n", "1:22", "is no address"],
    ["a network that is too narrow", "http: { trustProxy: [10.0.0.0/33] }\n", "1:22", "is no address"],
    ["half of TLS", "http: { tls: { key: a } }\n", "1:9", "tls.certificate is missing"],
  ])("is refused at its place for %s", async (_, text, place, words) => {
    const { code, message, hint, exitCode } = await refusalOf(text);
    expect({ code, exitCode }).toEqual({ code: "config-invalid", exitCode: 3 });
    expect(message.startsWith(`${file}:${place}: `), message).toBe(true);
    expect(message).toContain(words);
    expect(message).not.toContain("s3cret");
    expect(hint).toMatch(/./);
  });

  it("is refused with all its mistakes, in their order", async () => {
    const { message } = await refusalOf("tenants:\n  shop: { auto: all, maxConcurrent: 0 }\nnonsense: 1\n");
    expect(message).toMatch(/:2:11: .*auto.*\n.*:2:22: .*maxConcurrent.*\n.*:3:1: .*nonsense/);
  });

  it("says which file cannot be read", async () => {
    await expect(readConfig(join(folder, "none.yaml"))).rejects.toMatchObject({
      code: "config-unreadable",
      exitCode: 3,
    });
  });

  it("stays in force while its file has a mistake, and is read again after that", async () => {
    writeFileSync(file, whole);
    const live = await openConfig(file);
    const first = live.current();
    writeFileSync(file, "tenants: { shop: { auto: all } }\n");
    expect((await live.reload())?.message).toContain(`${file}:1:20: tenants.shop.auto`);
    expect(live.current()).toBe(first);
    writeFileSync(file, "tenants: { other: {} }\n");
    const unreadable = new GraphformError("listen-certificate", "the certificate cannot be read");
    expect(await live.reload(() => Promise.reject(unreadable))).toBe(unreadable);
    expect(live.current()).toBe(first);
    expect(await live.reload()).toBeUndefined();
    expect(Object.keys(live.current().tenants)).toEqual(["other"]);
    await expect(openConfig(join(folder, "none.yaml"))).rejects.toMatchObject({ code: "config-unreadable" });
  });

  it("has a published schema that is this one", () => {
    const published = join(import.meta.dirname, "../../../schemas/controller.schema.json");
    expect(JSON.parse(readFileSync(published, "utf8"))).toEqual(JSON.parse(JSON.stringify(controllerSchema)));
  });
});
