"""What is no network of one vector is refused where it is given."""

import pytest

from tinns import MLP, SeparableField, SpaceTime, TimeInduced, UserError


@pytest.mark.parametrize("wrong", [SeparableField(MLP((8,))), 20, MLP, SpaceTime()])
@pytest.mark.parametrize("field", [TimeInduced, SpaceTime])
def test_a_field_is_no_backbone(field, wrong):
    with pytest.raises(UserError, match=r"expected a network of one vector"):
        field(wrong)
