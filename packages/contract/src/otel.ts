/** `off`: nobody asked for it. `missing`: its libraries are not installed. */
export type OtelState = 'off' | 'missing' | 'installing' | 'on';

/** Answer of `GET /api/otel`. Counts are spans since the collector started; `error` is why nothing can be sent. */
export type OtelView = {
  state: OtelState;
  error: string | null;
  exported: number;
  failed: number;
  dropped: number;
  waiting: number;
};
