import type { Silo } from '@svc/contract/silo.ts';
import { withQuery } from '../../../parts/api.ts';

export const silosPath = '/core/v2/silos';
export const pathOfSilo = ({ id }: Pick<Silo, 'id'>): string => `${silosPath}/${encodeURIComponent(id)}`;
/** Of a file by its path in the silo; `mime`: what it is stored as. */
export const pathOfFile = (silo: Silo, path: string, mime = ''): string => withQuery(`${pathOfSilo(silo)}/file`, { path, mime });
