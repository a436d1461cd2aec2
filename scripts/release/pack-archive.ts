import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

type Packing = {
  /** Its last part is the name of the folder in the archive. */
  folder: string;
  file: string;
  /** Of every file, in seconds since 1970. */
  time: number;
  /** Of gzip: 1 to 9. */
  level: number;
};

/** Packs a folder so that the same files always give the same bytes: in order, of one time and one owner. Needs the tar of GNU. */
export async function packArchive({ folder, file, time, level }: Packing): Promise<void> {
  const tar = spawn(
    'tar',
    [
      '--create',
      '--format=posix',
      '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
      '--sort=name',
      `--mtime=@${time}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=u+rwX,go=rX',
      '--hard-dereference',
      `--directory=${path.dirname(folder)}`,
      path.basename(folder),
    ],
    { env: { PATH: process.env['PATH'], LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(tar, 'close');
  await pipeline(tar.stdout, createGzip({ level }), createWriteStream(file));
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`tar ended with ${code}.`);
}
