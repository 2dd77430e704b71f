import { playSharedState } from "./suite.ts";

playSharedState("s3");
