// A mutation that runs once at a time: a second click before the first is drawn as busy does nothing.
import { useMutation, type UseMutationOptions } from '@tanstack/preact-query';
import { useRef } from 'preact/hooks';

type ActionOptions<Data, Variables> = UseMutationOptions<Data, Error, Variables> &
  Required<Pick<UseMutationOptions<Data, Error, Variables>, 'mutationFn'>>;

export function useAction<Data, Variables = void>(options: ActionOptions<Data, Variables>) {
  const isRunning = useRef(false);
  // The library takes over the function of a drawing after it was painted. A form that is sent between the
  // two, as by Enter right after the last letter, would send what its fields held one letter before.
  const latest = useRef(options);
  latest.current = options;
  const mutation = useMutation<Data, Error, Variables>({
    ...options,
    mutationFn: (...call) => latest.current.mutationFn(...call),
    onSettled: (...outcome) => {
      isRunning.current = false;
      return options.onSettled?.(...outcome);
    },
  });
  const mutate = (variables: Variables): void => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutation.mutate(variables);
  };
  return { ...mutation, mutate };
}
