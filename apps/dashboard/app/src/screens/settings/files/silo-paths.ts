import type { Silo } from '@svc/contract/silo.ts';
import { withQuery } from '../../../parts/api.ts';

export const silosPath = '/core/v2/silos';
export const pathOfSilo = ({ id }: Pick<Silo, 'id'>): string => `${silosPath}/${encodeURIComponent(id)}`;
/** The path of a file in the silo; `mime`: its stored type. */
export const pathOfFile = (silo: Silo, path: string, mime = ''): string => withQuery(`${pathOfSilo(silo)}/file`, { path, mime });
