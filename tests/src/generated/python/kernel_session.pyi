class LoopSession:
    """A host's loop in its process: tell it what happened, it answers what to do next.

    What matters is in the store; this holds the generation that it saw, the failures in a row,
    and what a person did while the store could not be reached. Steps of one session happen one
    after the other, also from several threads.
    """

    @property
    def goal_id(self) -> str:
        """The goal that the session follows."""
        ...

    def __init__(
        self, kernel: Kernel, /, *, goal_id: str, **options: Unpack[LoopSessionOptions]
    ) -> None:
        """A session of a host that follows ``goal_id``.

        Raises:
            UsageError: an option is malformed, or there is none of that name.
        """
        ...

    def step(self, event: LoopEvent | str, /) -> LoopAnswer:
        """Tells the loop what happened: an event, or its kind where it has nothing else.

        A step that fails is an answer with ``ok: False``, and with the action to wait.

        Raises:
            UsageError: there is no such event.
        """
        ...

    def owed(self) -> list[LoopEvent]:
        """What a person did that is not stored yet."""
        ...
