import type { SystemSample, SystemSamples } from '@svc/contract/insights.ts';
import { useState } from 'react';
import { useFrames } from '../../parts/live.tsx';
import { useApi } from '../../parts/query.ts';

/** The number of samples in an hour. */
const maxSamples = 240;

/** The newest samples of the machine, the oldest first; new ones arrive over the live stream. */
export function useSamples() {
  const query = useApi<SystemSamples>(`/collector/api/system?limit=${maxSamples}`);
  const [told, setTold] = useState<readonly SystemSample[]>([]);
  useFrames((frame) => {
    if (frame.type === 'system-sample') setTold((before) => [...before, frame].slice(-maxSamples));
  });
  const read = query.data?.samples.toReversed() ?? [];
  const last = read.at(-1)?.at ?? 0;
  return { query, samples: [...read, ...told.filter(({ at }) => at > last)].slice(-maxSamples) };
}
