// A button that chooses files of this machine.
import { Icon } from '../../ui/icons.tsx';

interface FileButtonProps {
  label: string;
  /** Kinds of files, as `accept` takes them. */
  types: string;
  hasMany?: boolean;
  disabled?: boolean;
  onFiles: (files: readonly File[]) => void;
}

export function FileButton({ label, types, hasMany = false, disabled = false, onFiles }: FileButtonProps) {
  return (
    <label class="button small">
      <Icon name="plus" size={14} />
      {label}
      <input
        type="file"
        class="unseen"
        accept={types}
        multiple={hasMany}
        disabled={disabled}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // The same file may be chosen again.
          currentTarget.value = '';
        }}
      />
    </label>
  );
}
