import type { TelemetryEvent } from './event.ts';

/** A process of the service at one moment. `cpu_percent` is the share of one core since the sample before. */
export type ProcessSample = {
  /** `core`, `manager`, …, or the id of a connector instance. */
  name: string;
  kind: 'supervisor' | 'host' | 'instance';
  pid: number;
  memory_bytes: number;
  cpu_percent: number;
};

/** The machine and our processes at one moment; `at` is epoch ms. What this system does not tell is null. */
export type SystemSample = {
  at: number;
  /** Share of all cores together, 0 to 100. */
  cpu_percent: number;
  cores: number;
  load: [number, number, number];
  memory_used_bytes: number;
  memory_total_bytes: number;
  /** Of the disk that holds the data folder. */
  disk_used_bytes: number | null;
  disk_total_bytes: number | null;
  processes: ProcessSample[];
};

/** Answer of `GET /api/system`, newest first. */
export type SystemSamples = { samples: SystemSample[] };

/** Something that was pushed to a person; answer of `GET /api/notifications`, newest first. */
export type Notification = Pick<
  TelemetryEvent,
  'id' | 'ts' | 'kind' | 'surface' | 'session' | 'instance_id' | 'text' | 'payload'
>;
export type NotificationPage = { notifications: Notification[]; next_before: string | null };
