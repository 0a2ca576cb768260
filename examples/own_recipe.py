"""A custom recipe: the network, the trajectory of its weights, the optimiser and the points."""

import tinns
from tinns import MLP, Counts, Recipe, Redraw, Stop

RECIPE = Recipe(
    field=tinns.TimeInduced(MLP((16, 16), activation="sin"), tinns.Layerwise(MLP((8,)))),
    optimizer=tinns.PaperLM(tinns.PaperDamping(mu0=1.0, up=1.5, down=1.5)),
    points=Counts(interior=2000, initial=200, boundary=100),
    validation=Counts(interior=1000, initial=100, boundary=50),
    sampler=tinns.QuasiRandom(),
    redraw=Redraw(ratio=3.0),  # new points once validation is 3 times the training loss
    weights={"initial": 2.0, "boundary": 5.0},
    stop=Stop(iterations=300, target_loss=1e-10),
)


def main(iterations: int = 300) -> tinns.Solution:
    solution = tinns.solve("wave", RECIPE, iterations=iterations)
    result = solution.result
    print(f"{result['parameters']} parameters, {result['redraws']} redraws of the points")
    print(f"{result['stop_reason']} after {result['iterations']} iterations")
    print(f"relative L2 error {result['relative_l2']:.1e} in {result['seconds']:.0f} s")
    return solution


if __name__ == "__main__":
    main()
