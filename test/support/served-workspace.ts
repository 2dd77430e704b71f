import { FakeService } from "./fake-service.ts";
import { quickProfileFile } from "./quick-profile.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

/** A user's folder with a manifest at a service of its own. */
export interface ServedWorkspace {
  readonly user: Workspace;
  readonly service: FakeService;
  /** Ends both. */
  close(): Promise<void>;
}

/** Opens one whose manifest has this name and one free database, `instances.a`. */
export async function openServedWorkspace(name: string): Promise<ServedWorkspace> {
  const service = await FakeService.start();
  const user = openWorkspace(`apiVersion: graphform/v1
name: ${name}
service: { platformUrl: "${service.url}", profile: ${quickProfileFile} }
instances:
  a:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: a, graphdbUser: app, graphdbPassword: "\${env.A_PASSWORD}" }
`);
  Object.assign(user.env, service.env, { A_PASSWORD: "a-password-of-tests" });
  return {
    user,
    service,
    async close() {
      await user.close();
      await service.close();
    },
  };
}
