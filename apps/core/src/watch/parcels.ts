import type { SessionStreamFrame } from '@svc/contract/session.ts';
import { sseFrame } from '@svc/service-kit/http/sse.ts';
import { jsonInTurns } from '@svc/service-kit/json/write-steps.ts';
import type { MaskedJson, OutboundMask } from '@svc/service-kit/redaction/outbound-mask.ts';
import type { RingPart } from './watch-ring.ts';

type Line = { type: string; seq: number; json: MaskedJson };

/** Frames on their way to watchers. `place`: of the last frame that they stand for; null when each says its own. */
export type Parcel = { lines: readonly Line[]; place: number | null; sse(): Buffer };

/** Frames as watchers get them: masked and written once for all who are at the same place. */
export type Parcels = {
  of(place: number, part: RingPart): Parcel;
  /** What stands for all up to a place. */
  present(frames: readonly SessionStreamFrame[], place: number): Promise<Parcel>;
};

export function createParcels(mask: Pick<OutboundMask, 'jsonText' | 'longJsonText'>): Parcels {
  let newest: { from: number; next: number; parcel: Parcel } | null = null;
  return {
    of(from, { frames, next }) {
      if (newest?.from === from && newest.next === next) return newest.parcel;
      // A secret may have become known since they were held.
      const parcel = toParcel(
        frames.map(({ type, seq, json }) => ({ type, seq, json: mask.jsonText(json) })),
        null,
      );
      newest = { from, next, parcel };
      return parcel;
    },
    async present(frames, place) {
      const lines: Line[] = [];
      for (const frame of frames) {
        const json = await mask.longJsonText(await jsonInTurns(frame));
        lines.push({ type: frame.type, seq: frame.seq, json });
      }
      return toParcel(lines, place);
    },
  };
}

function toParcel(lines: readonly Line[], place: number | null): Parcel {
  let written: Buffer | null = null;
  return { lines, place, sse: () => (written ??= Buffer.from(toSse(lines, place))) };
}

/** An id without data only says where a reader is that comes back. */
const toSse = (lines: readonly Line[], place: number | null): string =>
  lines.map(({ type, seq, json }) => sseFrame(type, json, seq === 0 ? undefined : String(seq))).join('') +
  (place === null ? '' : `id: ${place}\n\n`);
