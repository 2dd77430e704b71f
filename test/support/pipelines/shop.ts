import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { instanceParams } from "../../../src/kinds/instance-operations.ts";
import { isServiceError } from "../../../src/model/errors.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { type LocalPlatform, platformUp } from "../local-platform.ts";
import { outsider } from "../local-service.ts";
import { quickProfile } from "../quick-profile.ts";
import { openWorkspace, until, type Workspace } from "../workspace.ts";
import { type ForgeServer, startForge } from "./forge-server.ts";
import type { Variables } from "./shell.ts";

/** A repository with a manifest, a pipeline that `init` wrote, the local platform, and a forge. */
export interface Shop {
  readonly user: Workspace;
  readonly platform: LocalPlatform;
  readonly forge: ForgeServer;
  /** Folder of the repository. */
  readonly repository: string;
  readonly secrets: Variables;
  /** Writes the next commit: databases by name, each with its description. */
  commit(databases: Variables): void;
  /** A manifest of databases by name, with a state section and a name of its own. */
  manifest(databases: Variables, section?: JsonObject, name?: string): string;
  /** Names of the databases that were ever created, in their order. */
  created(): Promise<readonly string[]>;
  /** Deletes or stops a database past graphform, and waits until it is so. */
  past(verb: "delete" | "stop", database: string): Promise<void>;
  close(): Promise<void>;
}

/** A store that every job of a shop reaches. */
export interface ShopStore {
  /** The `state` section of the manifest. */
  readonly section: JsonObject;
  /** What is stored. */
  text(): Promise<string | undefined>;
}

/** Opens a shop whose pipeline is that of a CI service. */
export async function openShop(
  ci: "github" | "gitlab",
  store: ShopStore,
  given?: ForgeServer,
): Promise<Shop> {
  const user = openWorkspace();
  const platform = await platformUp(user, "--delay", "5");
  const forge = given ?? (await startForge());
  const repository = join(user.dir, "repository");
  mkdirSync(join(repository, ".git"), { recursive: true });
  user.write("quick.yaml", quickProfile);
  const commit = (databases: Variables): void => user.write("repository/graphform.yaml", manifest(databases));
  const manifest = (databases: Variables, section: JsonObject = store.section, name = "shop"): string =>
    manifestOf(databases, { url: platform.url, profile: join(user.dir, "quick.yaml"), section, name });
  commit({ orders: "the order graph" });
  const { code, err } = await user.run("--chdir", "repository", "init", "--ci", ci);
  if (code !== 0) throw new Error(err);
  const idOf = async (database: string): Promise<string> => {
    const text = await store.text();
    const state: { resources: { [address: string]: { id?: string } } } = JSON.parse(text ?? "");
    return state.resources[`instances.${database}`]?.id ?? "";
  };
  return {
    ...{ user, platform, forge, repository, commit, manifest },
    secrets: {
      GRAPHFORM_USERNAME: platform.username,
      GRAPHFORM_PASSWORD: platform.password,
      SHOP_PASSWORD: "a-password-of-tests",
    },
    async created() {
      const writes = await platform.writes();
      return writes
        .filter(({ operation }) => operation === "create")
        .map(({ body }) => JSON.stringify(body).replace(/^.*"name":"([^"]*)".*$/, "$1"));
    },
    async past(verb, database) {
      const other = await outsider(user);
      const params = {
        ...instanceParams({ tier: "free", component: "free" }, other.service.profile),
        id: await idOf(database),
      };
      await other.write(`instance.${verb}`, params);
      await until(async () => {
        const status = await other.read("instance.describe", params).then(
          ({ values }) => values["status"],
          (error: unknown) => (isServiceError(error, "not-found") ? "gone" : undefined),
        );
        return status === (verb === "stop" ? "STOPPED" : "gone") || undefined;
      }, `${database} to ${verb}`);
    },
    async close() {
      await forge.close();
      await user.close();
    },
  };
}

function manifestOf(
  databases: Variables,
  {
    url,
    profile,
    section,
    name: own,
  }: { readonly url: string; readonly profile: string; readonly section: JsonObject; readonly name: string },
): string {
  const blocks = Object.entries(databases).map(
    ([name, description]) => `  ${name}:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: ${name}, description: ${JSON.stringify(description)}, graphdbUser: app, graphdbPassword: "\${secret.shop}" }
`,
  );
  return `apiVersion: graphform/v1
name: ${own}
service: { profile: ${profile}, platformUrl: "${url}", subscriptionId: sub-local }
secrets: { shop: { env: SHOP_PASSWORD } }
state: ${JSON.stringify(section)}
instances:
${blocks.join("")}`;
}
