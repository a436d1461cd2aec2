import { t } from '@svc/chat-ui/language/t.ts';

/** What ends a form. `submit`: verb and thing. `isOff`: it is under way, or something is still missing. Without `onClose` there is nothing to go back to. */
export function FormButtons({ submit, isOff, onClose }: { submit: string; isOff: boolean; onClose?(): void }) {
  return (
    <p className="row-buttons">
      <button type="submit" className="primary" disabled={isOff}>
        {submit}
      </button>
      {onClose !== undefined && (
        <button type="button" className="plain-button" onClick={onClose}>
          {t('Cancel')}
        </button>
      )}
    </p>
  );
}
