import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';

/** A Node process alone takes some 60 MB. */
const leastMb = 96;
const mostMb = 65_536;

export const memoryMbSchema = { type: 'integer', minimum: leastMb, maximum: mostMb } as const;

/** The settings that every type has in addition to its own. */
export const usualSettings = ['memory_mb', 'start_order'] as const;
const startOrderSchema = { type: 'integer', minimum: 1, maximum: 99 } as const;

/** The description with the settings that every type has in addition to its own. */
export const withUsualSettings = (meta: ConnectorMeta): ConnectorMeta => ({
  ...meta,
  configSchema: {
    ...meta.configSchema,
    properties: {
      ...meta.configSchema.properties,
      memory_mb: {
        ...memoryMbSchema,
        title: 'Memory limit in MB',
        description: 'A process that uses more is ended and restarted. Unset: the limit of the type, or SVC_CONNECTOR_MEMORY.',
      },
      start_order: {
        ...startOrderSchema,
        title: 'Start order',
        description:
          '1 to 49 starts before the channels without a number, 51 to 99 after them. Unset: the most recently used start first.',
      },
    },
  },
});

/** The memory limit of an instance's process in MB: its own setting, else its type's, else that of the service. */
export function memoryLimitMb({ memory_mb: ofType }: ConnectorMeta, config: Record<string, unknown>, usual: number): number {
  const own = config['memory_mb'];
  return typeof own === 'number' ? own : (ofType ?? usual);
}

/** The rest of the limit is for memory outside the heap: Node itself, buffers, code. */
const heapShare = 0.6;
export const heapLimitMb = (limitMb: number): number => Math.floor(limitMb * heapShare);
