import type { PartialEvent } from '@svc/contract/event.ts';
import type { VersionInfo } from '@svc/contract/service.ts';

export type InstalledPackages = { folder: string } | { missing: string };

/** Messages of the manager to a connector process, over the channel behind `process.send`. */
export type ParentMessage =
  | {
      type: 'start';
      instanceId: string;
      instanceName: string;
      connectorType: string;
      /** Absolute path of the module that exports `meta` and `start`. */
      entry: string;
      config: Record<string, unknown>;
      /** The running code, as the manager knows it. */
      release: Pick<VersionInfo, 'version' | 'channel' | 'sha'>;
      assistantName: string;
      dataDir: string;
      coreSocket: string;
      /** Shows the core whose link this is; new for each process. */
      pass: string;
      /** Address of the core's HTTP routes, for files. */
      coreUrl: string;
      allowedHosts: string[];
      heartbeatMs: number;
      stopTimeoutMs: number;
      /** Where the type's installed libraries are, or why they are missing; null for an instance without them. */
      packages: InstalledPackages | null;
      /** The secrets by which this process and the manager identify each other on `/out`; new for each process. */
      outbound: { token: string; proof: string };
    }
  | { type: 'secret'; requestId: number; value: string | null; error: string | null }
  | { type: 'stop' };

/** Messages of a connector process to the manager. */
export type ChildMessage =
  /** `outboundPort`: the loopback port of `/out` and `/channels`, if they are served. */
  | {
      type: 'ready';
      port: number | null;
      url: string | null;
      outboundPort: number | null;
      first_steps?: string;
      invite_link?: string;
    }
  | { type: 'heartbeat' }
  /** What `health()` reports as wrong, sent when it changes; null when the channel is healthy again. */
  | { type: 'problem'; text: string | null }
  | { type: 'emit'; event: PartialEvent }
  | { type: 'secret'; requestId: number; name: string }
  /** The start failed for a reason that a person can correct; sent before the process ends. */
  | { type: 'failed'; message: string };
