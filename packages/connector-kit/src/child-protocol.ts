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
      /** Shows the core whose links these are; new for each process. */
      pass: string;
      /** Where the core's HTTP routes are, for files. */
      coreUrl: string;
      allowedHosts: string[];
      heartbeatMs: number;
      stopTimeoutMs: number;
      /** Where the libraries are that its type installs for it, or why they are not there; null for an instance without. */
      packages: InstalledPackages | null;
      /** What this process and the manager show each other on `/out`; new for each process. */
      outbound: { token: string; proof: string };
    }
  | { type: 'secret'; requestId: number; value: string | null; error: string | null }
  | { type: 'stop' };

/** Messages of a connector process to the manager. */
export type ChildMessage =
  /** `outboundPort`: where `/out` and `/channels` are served on loopback, if at all. */
  | {
      type: 'ready';
      port: number | null;
      url: string | null;
      outboundPort: number | null;
      first_steps?: string;
      invite_link?: string;
    }
  | { type: 'heartbeat' }
  /** What its `health()` says is wrong, when that changes; null when it is well again. */
  | { type: 'problem'; text: string | null }
  | { type: 'emit'; event: PartialEvent }
  | { type: 'secret'; requestId: number; name: string }
  /** The start failed for a reason that a person can correct; sent before the process ends. */
  | { type: 'failed'; message: string };
