import { z } from "zod";
import { document, type RouteContract } from "./route.ts";

/** Routes by which other processes see that the daemon is there, that it is the right one, and how it is. */
export const probeRoutes = {
  getProof: {
    method: "GET",
    path: "/proof",
    summary: "Prove to a process of this PML_HOME that the daemon answers, before it sends a key",
    access: "public",
    query: z.object({ nonce: z.string().regex(/^[\w-]{43}$/) }),
    answer: { kind: "text", mediaType: "text/plain" },
    failures: { 400: "The nonce is missing, or not 32 bytes in base64url." },
  },
  getHealth: {
    method: "GET",
    path: "/healthz",
    summary: "Report that the process answers",
    access: "public",
    answer: document(z.object({ status: z.literal("ok") })),
  },
  getReadiness: {
    method: "GET",
    path: "/readyz",
    summary: "Report whether the database answers",
    access: "public",
    answer: document(z.object({ status: z.string() })),
    failures: { 503: "The database does not answer." },
  },
  getMetrics: {
    method: "GET",
    path: "/metrics",
    summary: "Get metrics in the format of Prometheus",
    answer: { kind: "text", mediaType: "text/plain" },
  },
} as const satisfies Readonly<Record<string, RouteContract>>;
