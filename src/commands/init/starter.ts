/** @module Contains the manifest that `init` writes. */
import { schemaLine } from "../../project/package-files.ts";

/** A commented manifest for a folder, with one free database; every line that is commented out is valid, too. */
export const starterFor = (folder: string): string => `${schemaLine(folder)}
apiVersion: graphform/v1
name: my-graphs                     # scopes the state file

# Without a service section the local platform is meant: graphform platform up --detach
# service:
#   profile: default                # graphform profile list
#   platformUrl: https://platform.example.com
#   usersUrl: https://users.example.com
#   subscriptionId: sub-123

# Without a state section the state is a file beside the manifest. A team and its pipelines share one in a store:
# state:
#   type: s3                        # file | http | s3 | postgres: docs/stores.md
#   bucket: my-states
#   region: us-east-1

# Read when they are needed, never stored, never printed.
secrets:
  ordersPassword: { env: ORDERS_PASSWORD }

instances:
  orders:
    tier: free                      # enterprise-byoa | enterprise | pro | startup | free
    component: free                 # graphform profile show lists the components of each tier
    cloudProvider: aws
    region: us-east-1
    config:                         # the service's own settings: graphform explain
      name: orders
      graphdbUser: app
      graphdbPassword: \${secret.ordersPassword}
    # lifecycle:
    #   protect: true               # refuses deletion and replacement; default on every tier but free
    #   onReplace: refuse           # refuse | recreate
    #   onDelete: delete            # delete | retain | backup

# users:
#   reader:
#     instance: orders
#     username: reader
#     password: \${env.READER_PASSWORD}
#     acl: "~* +GRAPH.RO_QUERY +PING"

outputs:
  ordersEndpoint: \${instances.orders.endpoint}
`;
