"""How many faults in the shapes of programs `shaped check` finds: right programs, changed in one place each.

torch says what a change does: it raises, gives another shape or other values, or changes nothing. A mutant is *found*
if the checker reports something that it does not report in the original.

    python -m benchmarks.shape_mutants [--most 1000] [--seed 0] [--kind KIND] [--missed] [--equivalent] [--rivals]
"""
