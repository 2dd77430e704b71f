import { expect } from "vitest";
import { platformUp } from "./local-platform.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

/** The first user of the database whose data is moved. */
export const login = { username: "app", password: "first-password" };

/** The parts in which manifests of one database, `orders`, differ. `more`: further top-level blocks. */
interface MovedDatabase {
  readonly name: string;
  /** A size of the cache: another one needs a new database. */
  readonly cache: number;
  /** The lifecycle besides `onReplace: migrate`. */
  readonly lifecycle: string;
  readonly component?: string;
  readonly more?: string;
}

export function movedManifest({
  name,
  cache,
  lifecycle,
  component = "standalone",
  more = "",
}: MovedDatabase): string {
  return `
apiVersion: graphform/v1
name: ${name}
secrets: { app: { env: APP_PASSWORD } }
instances:
  orders:
    tier: pro
    component: ${component}
    cloudProvider: aws
    region: us-east-1
    config: { nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.app}", graphDBCacheSize: ${cache} }
    lifecycle: { onReplace: migrate, ${lifecycle} }
outputs:
  orders: \${instances.orders.endpoint}
${more}`;
}

/** A folder with this manifest, applied to a local platform of its own that has these options. */
export async function startMoved(manifest: string, ...options: readonly string[]): Promise<Workspace> {
  const user = openWorkspace(manifest);
  user.env["APP_PASSWORD"] = login.password;
  try {
    await platformUp(user, ...options);
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    return user;
  } catch (error) {
    await user.close();
    throw error;
  }
}
