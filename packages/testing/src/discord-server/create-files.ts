import { ApiError, type DiscordAttachment, type Snowflake } from './api-types.ts';
import type { World } from './create-world.ts';
import type { Channel } from './model.ts';

export type FileToAdd = {
  name: string;
  mime?: string;
  bytes?: Uint8Array;
  /** A file that only pretends to be large has no bytes. */
  size?: number;
  description?: string;
  width?: number;
  height?: number;
};

export type Files = {
  /** @throws ApiError when it is larger than the platform allows. */
  add(file: FileToAdd, channel: Channel): DiscordAttachment;
  /** A file by its CDN address; undefined without a valid signature. */
  read(path: string, query: URLSearchParams): { bytes: Buffer; mime: string } | undefined;
};

const signature = 'f00dfeed';

/** `base`: the address of the CDN. */
export function createFiles(world: World, base: () => string, maxBytes: number): Files {
  const stored = new Map<string, { bytes: Buffer; mime: string }>();
  return {
    add({ name, mime = 'application/octet-stream', bytes = Buffer.alloc(0), size = bytes.length, ...more }, channel) {
      if (size > maxBytes) throw new ApiError(413, 40_005, 'Request entity too large');
      const id: Snowflake = world.nextId();
      const filename = name.replaceAll(/[^\w.-]+/g, '_') || 'unknown';
      const path = `/attachments/${channel.id}/${id}/${filename}`;
      stored.set(path, { bytes: Buffer.from(bytes), mime });
      const url = `${base()}${path}?ex=7fffffff&is=60000000&hm=${signature}&`;
      return { id, filename, size, url, proxy_url: url, content_type: mime, ...more };
    },
    read: (path, query) => (query.get('hm') === signature ? stored.get(decodeURIComponent(path)) : undefined),
  };
}
